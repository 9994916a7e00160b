//! A second database server, on the crate `pgwire`: one client, one SQLite connection, real
//! `BEGIN` and `COMMIT`. Protocol, message order and value formats are pgwire's; from the SQL
//! it only takes away what SQLite does not read.

use async_trait::async_trait;
use futures_util::{Sink, SinkExt, StreamExt, stream};
use onceproof::settlement::{Period, SCHEMA, UNIQUE_MARKER};
use pgwire::api::auth::StartupHandler;
use pgwire::api::portal::{Format, Portal};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::results::{DataRowEncoder, FieldInfo, QueryResponse, Response, Tag};
use pgwire::api::stmt::QueryParser;
use pgwire::api::store::PortalStore;
use pgwire::api::{ClientInfo, ClientPortalStore, DefaultClient, NoopHandler, PgWireConnectionState, Type};
use pgwire::error::{ErrorInfo, PgWireError, PgWireResult};
use pgwire::messages::response::{ReadyForQuery, TransactionStatus};
use pgwire::messages::startup::{Authentication, ParameterStatus};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use pgwire::tokio::server::{PgWireMessageServerCodec, process_error, process_message};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use tokio::io::DuplexStream;
use tokio_util::codec::Framed;

/// The same tables with the same first rows as the other server has.
pub fn open(players: u32, task: &Period) -> Connection {
    let connection = Connection::open_in_memory().expect("SQLite opens");
    let not_null = |table: &str| table.replace("PRIMARY KEY", "NOT NULL PRIMARY KEY");
    for statement in SCHEMA.map(not_null).into_iter().chain([UNIQUE_MARKER.to_owned()]) {
        connection.execute_batch(&statement).expect("the schema");
    }
    for player in 1..=players {
        connection.execute("INSERT INTO points VALUES (?1, 0, 0)", [player]).expect("a player");
    }
    let sql = "INSERT INTO task (period, due, status, version, attempt) VALUES (?1, ?2, 0, 0, 0)";
    connection.execute(sql, [task.id.0, task.due.0]).expect("a task");
    connection.execute_batch("INSERT INTO fence VALUES ('settlement', 0)").expect("a fence");
    connection
}

/// A statement as pgwire keeps it.
#[derive(Clone)]
pub struct Parsed {
    sql: String,
    parameters: Vec<Type>,
    columns: Vec<(String, Type)>,
}

struct Backend(Mutex<Connection>);

fn error(code: &str, message: String) -> PgWireError {
    PgWireError::UserError(Box::new(ErrorInfo::new("ERROR".to_owned(), code.to_owned(), message)))
}

fn failed(cause: &rusqlite::Error) -> PgWireError {
    let text = cause.to_string();
    let code = [
        ("UNIQUE constraint failed", "23505"),
        ("NOT NULL constraint failed", "23502"),
        ("no such table", "42P01"),
        ("no such column", "42703"),
        ("syntax error", "42601"),
        ("incomplete input", "42601"),
    ];
    let code = code.iter().find(|(known, _)| text.contains(known)).map_or("XX000", |(_, code)| code);
    error(code, text)
}

fn verb(sql: &str) -> String {
    sql.split_whitespace().next().unwrap_or("").to_ascii_uppercase()
}

fn named(name: &str) -> Type {
    match name.to_ascii_lowercase().as_str() {
        "text" => Type::TEXT,
        "float8" => Type::FLOAT8,
        "bool" => Type::BOOL,
        _ => Type::INT8,
    }
}

impl Backend {
    /// Casts stand on parameters only, in these scripts; a bare `$n` as a column has the type of its cast.
    fn parse(&self, sql: &str, given: &[Option<Type>]) -> PgWireResult<Parsed> {
        let mut text = sql.replace(" FOR UPDATE", "");
        let mut casts = Vec::new();
        while let Some(at) = text.find("::") {
            let end = text[at + 2..].find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |n| at + 2 + n);
            casts.push(named(&text[at + 2..end]));
            text.replace_range(at..end, "");
        }
        let text = text.replace('$', "?");
        if matches!(verb(&text).as_str(), "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK") {
            return Ok(Parsed { sql: text, parameters: Vec::new(), columns: Vec::new() });
        }
        let connection = self.0.lock().expect("one thread");
        let statement = connection.prepare(&text).map_err(|cause| failed(&cause))?;
        let columns = statement.columns().enumerate().map(|(i, column)| {
            let declared = column.decl_type().map(named);
            // SQLite declares no types for what RETURNING returns.
            let by_name = if column.name() == "name" { Type::TEXT } else { Type::INT8 };
            (column.name().to_owned(), declared.or(casts.get(i).cloned()).unwrap_or(by_name))
        });
        let parameters = given.iter().map(|of| of.clone().unwrap_or(Type::INT8)).collect();
        Ok(Parsed { columns: columns.collect(), sql: text, parameters })
    }

    fn fields(parsed: &Parsed, format: &Format) -> Arc<Vec<FieldInfo>> {
        let field = |(i, (name, of)): (usize, &(String, Type))| FieldInfo::new(name.clone(), None, None, of.clone(), format.format_for(i));
        Arc::new(parsed.columns.iter().enumerate().map(field).collect())
    }

    fn run(&self, status: TransactionStatus, parsed: &Parsed, values: &[Value], format: &Format) -> PgWireResult<Response> {
        let connection = self.0.lock().expect("one thread");
        let aborted = status == TransactionStatus::Error;
        let control = match verb(&parsed.sql).as_str() {
            "COMMIT" | "END" if aborted => Some("ROLLBACK"),
            "COMMIT" | "END" => Some("COMMIT"),
            "ROLLBACK" => Some("ROLLBACK"),
            _ if aborted => return Err(error("25P02", "current transaction is aborted".to_owned())),
            "BEGIN" | "START" => Some("BEGIN"),
            _ => None,
        };
        if let Some(control) = control {
            if status == TransactionStatus::Idle && control != "BEGIN" {
                return Ok(Response::Execution(Tag::new(control)));
            }
            connection.execute_batch(control).map_err(|cause| failed(&cause))?;
            let tag = Tag::new(control);
            return Ok(if control == "BEGIN" { Response::TransactionStart(tag) } else { Response::TransactionEnd(tag) });
        }
        query(&connection, parsed, values, format)
    }
}

fn query(connection: &Connection, parsed: &Parsed, values: &[Value], format: &Format) -> PgWireResult<Response> {
    let tag = if verb(&parsed.sql) == "INSERT" { "INSERT 0".to_owned() } else { verb(&parsed.sql) };
    let mut statement = connection.prepare(&parsed.sql).map_err(|cause| failed(&cause))?;
    if parsed.columns.is_empty() {
        let count = statement.execute(params_from_iter(values)).map_err(|cause| failed(&cause))?;
        return Ok(Response::Execution(Tag::new(&tag).with_rows(count)));
    }
    let schema = Backend::fields(parsed, format);
    let mut encoder = DataRowEncoder::new(schema.clone());
    let mut encoded = Vec::new();
    let mut rows = statement.query(params_from_iter(values)).map_err(|cause| failed(&cause))?;
    while let Some(row) = rows.next().map_err(|cause| failed(&cause))? {
        for (i, (_, of)) in parsed.columns.iter().enumerate() {
            match (row.get_ref(i).map_err(|cause| failed(&cause))?, of) {
                (ValueRef::Null, _) => encoder.encode_field(&None::<i64>)?,
                (ValueRef::Integer(n), of) if *of == Type::BOOL => encoder.encode_field(&(n != 0))?,
                (ValueRef::Integer(n), _) => encoder.encode_field(&n)?,
                (ValueRef::Real(x), _) => encoder.encode_field(&x)?,
                (ValueRef::Text(text) | ValueRef::Blob(text), _) => encoder.encode_field(&String::from_utf8_lossy(text).as_ref())?,
            }
        }
        encoded.push(Ok(encoder.take_row()));
    }
    let mut response = QueryResponse::new(schema, stream::iter(encoded));
    response.set_command_tag(&tag);
    Ok(Response::Query(response))
}

/// pgwire's handlers: startup, simple and extended queries.
struct Handler(Arc<Backend>);
struct Parser(Arc<Backend>);

#[async_trait]
impl QueryParser for Parser {
    type Statement = Parsed;

    async fn parse_sql<C>(&self, _: &C, sql: &str, types: &[Option<Type>]) -> PgWireResult<Option<Parsed>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        self.0.parse(sql, types).map(Some)
    }

    fn get_parameter_types(&self, statement: &Parsed) -> PgWireResult<Vec<Type>> {
        Ok(statement.parameters.clone())
    }

    fn get_result_schema(&self, statement: &Parsed, format: Option<&Format>) -> PgWireResult<Vec<FieldInfo>> {
        Ok(Backend::fields(statement, format.unwrap_or(&Format::UnifiedBinary)).to_vec())
    }
}

#[async_trait]
impl SimpleQueryHandler for Handler {
    async fn do_query<C>(&self, client: &mut C, text: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let aborted = client.transaction_status() == TransactionStatus::Error;
        let parsed =
            if aborted { Parsed { sql: text.to_owned(), parameters: Vec::new(), columns: Vec::new() } } else { self.0.parse(text, &[])? };
        Ok(vec![self.0.run(client.transaction_status(), &parsed, &[], &Format::UnifiedText)?])
    }
}

#[async_trait]
impl ExtendedQueryHandler for Handler {
    type Statement = Parsed;
    type QueryParser = Parser;

    fn query_parser(&self) -> Arc<Parser> {
        Arc::new(Parser(self.0.clone()))
    }

    async fn do_query<C>(&self, client: &mut C, portal: &Portal<Parsed>, _: usize) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let parsed = &portal.statement.statement;
        let mut values = Vec::new();
        for (i, of) in parsed.parameters.iter().enumerate() {
            let value = match *of {
                Type::BOOL => portal.parameter::<bool>(i, of)?.map(|b| Value::Integer(i64::from(b))),
                Type::FLOAT8 => portal.parameter::<f64>(i, of)?.map(Value::Real),
                Type::TEXT => portal.parameter::<String>(i, of)?.map(Value::Text),
                _ => portal.parameter::<i64>(i, of)?.map(Value::Integer),
            };
            values.push(value.unwrap_or(Value::Null));
        }
        self.0.run(client.transaction_status(), parsed, &values, &portal.result_column_format)
    }
}

#[async_trait]
impl StartupHandler for Handler {
    async fn on_startup<C>(&self, client: &mut C, message: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        if let PgWireFrontendMessage::Startup(startup) = &message {
            pgwire::api::auth::protocol_negotiation(client, startup).await?;
            client.feed(PgWireBackendMessage::Authentication(Authentication::Ok)).await?;
            let encoding = ParameterStatus::new("client_encoding".to_owned(), "UTF8".to_owned());
            client.feed(PgWireBackendMessage::ParameterStatus(encoding)).await?;
            client.send(PgWireBackendMessage::ReadyForQuery(ReadyForQuery::new(TransactionStatus::Idle))).await?;
            client.set_state(PgWireConnectionState::ReadyForQuery);
        }
        Ok(())
    }
}

/// Serves the one client until it goes away.
pub async fn serve(stream: DuplexStream, connection: Connection) {
    let handler = Arc::new(Handler(Arc::new(Backend(Mutex::new(connection)))));
    let noop = Arc::new(NoopHandler);
    let peer = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
    let mut socket = Framed::new(stream, PgWireMessageServerCodec::new(DefaultClient::<Parsed>::new(peer, false)));
    socket.codec_mut().client_info.set_state(PgWireConnectionState::AwaitingStartup);
    while let Some(Ok(message)) = socket.next().await {
        if matches!(message, PgWireFrontendMessage::Terminate(_)) {
            return;
        }
        let extended = message.is_extended_query();
        let done =
            process_message(message, &mut socket, handler.clone(), handler.clone(), handler.clone(), noop.clone(), noop.clone()).await;
        if let Err(error) = done {
            process_error(&mut socket, error, extended).await.expect("a pipe");
        }
    }
}
