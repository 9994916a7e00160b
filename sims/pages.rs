//! The pages of reports in a real browser, as people meet them. Without an installed Chromium and chromedriver these
//! tests say that they did nothing, unless `ONCEPROOF_REQUIRE_BROWSER=1` asks for them.

mod browser;
mod driver;
mod front;
mod quiet;
mod run;
pub mod site;
