//! context
pub struct Context;
#[derive(Debug)]
pub struct Error;
