//! A unique key on the settlement table: as an article publishes it, with the mistakes that are
//! made with it, and with the marker first and in the transaction of the effect.

mod apart;
mod guarded;
mod published;

pub use apart::Apart;
pub use guarded::TableKey;
pub use published::Published;

const COUNT: &str = "SELECT count(*) FROM settlement WHERE period = $1";
