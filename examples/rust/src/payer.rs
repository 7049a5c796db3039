//! Who plays the payer: a robot, or a person with a browser.

use std::io::{self, IsTerminal};

use crate::{
    failure::Failure,
    narrator::Narrator,
    robot::{Form, Robot, Visit},
};

/// The payer.
pub(crate) enum Payer {
    /// Fills in the sandbox's pages by itself.
    Robot(Robot),
    /// Gets links, and is asked for one-time passwords.
    Person,
}

impl Payer {
    /// True for the robot.
    pub(crate) fn is_robot(&self) -> bool {
        matches!(self, Self::Robot(_))
    }

    /// Sends the payer to a page. What the robot does there is told as `story`; without forms it cannot do anything.
    /// Whatever happens there, the status decides.
    pub(crate) async fn go(&self, narrator: &Narrator, page: &str, story: &str, forms: Option<Vec<Form>>) {
        let Self::Robot(robot) = self else {
            narrator.step("payer", &format!("open {page} in a browser and finish the payment there"));
            return;
        };
        let Some(forms) = forms else {
            narrator
                .warn("payer", &format!("the robot knows no one-time password for this payer: open {page} yourself"));
            return;
        };
        narrator.step("payer", story);
        match robot.visit(page, forms).await {
            Ok(Visit::Returned) => {}
            Ok(Visit::StayedThere) => narrator.step("payer", "the gateway shows the result on a page of its own"),
            Err(failure) => narrator.warn("payer", &failure.describe()),
        }
    }

    /// Asks a person for a one-time password.
    pub(crate) async fn ask_otp(narrator: &Narrator) -> Result<String, Failure> {
        narrator.step("payer", "type the one-time password that the phone received, then Enter:");
        let read = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|_| line.trim().to_owned())
        });
        match read.await {
            Ok(Ok(otp)) if !otp.is_empty() => Ok(otp),
            _ => Err(Failure::Usage("no one-time password was given".to_owned())),
        }
    }

    /// True where there is somebody to ask.
    pub(crate) fn can_be_asked() -> bool {
        io::stdin().is_terminal()
    }
}
