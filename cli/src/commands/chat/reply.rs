//! A task at work in a chat. What the person types meanwhile is said to it, and commands are carried out.

use super::{
    Chat, Next, report,
    slash::{Command, Typed},
    source::Person,
};
use crate::{
    connection::Daemon,
    error::CommandError,
    follow::{Follow, FollowEnd, Heard, Target},
    output::{
        screen,
        style::{FAINT, paint},
        text,
    },
    prompt::Edited,
};
use abide_client::{
    comment,
    protocol::{ErrorKind, TaskId, method::Intervene},
};

/// Said after a comment, which is shown where it is read.
const SAID: &str = "said; the agent reads it before its next request";

impl Chat {
    /// Follows a task to its end.
    pub(super) async fn reply(&mut self, target: Target, person: &mut Person) -> Result<Next, CommandError> {
        let conversation = target.conversation;
        // The commands that are typed meanwhile need one, too.
        let mut daemon = Daemon::started().await?;
        let mut follow = Follow::open(&mut daemon, target).await?;
        let ending = self.conversed(&mut follow, person).await;
        follow.close().await?;
        drop(follow);
        let ending = ending?;
        if matches!(ending, FollowEnd::Deleted) {
            self.conversation = None;
        }
        let exit = report(&ending, conversation, self.json)?;
        Ok(match ending {
            FollowEnd::Detached { .. } => Next::Detached(exit),
            _ => Next::Message,
        })
    }

    async fn conversed(
        &mut self,
        follow: &mut Follow<'_>,
        person: &mut Person,
    ) -> Result<FollowEnd, CommandError> {
        loop {
            if let Heard::End(ending) = follow.next().await? {
                return Ok(ending);
            }
            let edited = follow.during(person.line(&self.folder)).await??;
            let ending = match edited {
                Edited::End => Some(follow.detached()),
                Edited::Interrupted => follow.interrupted().await?,
                Edited::Line(text) => self.meanwhile(&text, follow, person).await?,
            };
            if let Some(ending) = ending {
                return Ok(ending);
            }
        }
    }

    /// A line that was typed while the task worked. `Some` if the following ends with it.
    async fn meanwhile(
        &mut self,
        line: &str,
        follow: &mut Follow<'_>,
        person: &mut Person,
    ) -> Result<Option<FollowEnd>, CommandError> {
        match Typed::of(line) {
            Typed::Nothing => {}
            Typed::Refused(why) => follow.say(&text::block(&why))?,
            Typed::Shell(line) => follow.during(person.run(&line, &self.folder)).await??,
            Typed::Command(Command::Exit) => return Ok(Some(follow.detached())),
            Typed::Command(Command::New) => {
                follow.say("the task still works; /stop ends it, /exit leaves it")?;
            }
            Typed::Command(command) => {
                if let Err(error) = follow.during(self.command(command)).await? {
                    error.show();
                }
            }
            Typed::Message(message) => {
                // Without a task nothing would have been followed.
                if let Some(task) = follow.task() {
                    self.say(task, message, follow).await?;
                }
            }
        }
        Ok(None)
    }

    /// Says it to the task; if that has just ended, it becomes the next message.
    async fn say(
        &mut self,
        task: TaskId,
        message: String,
        follow: &mut Follow<'_>,
    ) -> Result<(), CommandError> {
        if follow.has_ended(task) {
            self.unsent.push_back(message);
            return Ok(());
        }
        match self.daemon.call::<Intervene>(comment(task, message.clone())).await {
            Ok(_) => follow.say(&paint(FAINT, SAID))?,
            Err(error) if error.is(ErrorKind::IllegalState) => self.unsent.push_back(message),
            Err(error) => {
                error.show();
                screen::note(&paint(FAINT, "not said; the arrow up brings it back"))?;
            }
        }
        Ok(())
    }
}
