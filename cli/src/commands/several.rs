//! The same for each of several ids.

use crate::{error::CommandError, exit::Exit};

/// What fails for one id keeps the others from nothing. The exit code is that of the first failure.
pub(super) async fn each(
    ids: &[String],
    json: bool,
    mut act: impl AsyncFnMut(&str) -> Result<Exit, CommandError>,
) -> Exit {
    let mut exit = Exit::Done;
    for id in ids {
        let done = act(id).await.unwrap_or_else(|error| {
            if json {
                error.show_json();
            } else {
                error.show();
            }
            error.exit()
        });
        if exit == Exit::Done {
            exit = done;
        }
    }
    exit
}
