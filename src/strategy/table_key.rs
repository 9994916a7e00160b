//! table_key
