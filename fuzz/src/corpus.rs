//! The fuzz corpus, packed: one file for each target, in it an input a line, as standard base64. A line that another
//! branch adds or removes merges like any other text.

use std::{fs, io, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The inputs that the engine has found for a target, in the order of their lines; none where it has found nothing so
/// far.
///
/// # Errors
///
/// What the file system says, and `InvalidData` naming a line that is not base64.
pub fn packed(folder: &Path, target: &str) -> io::Result<Vec<Vec<u8>>> {
    match fs::read_to_string(folder.join(format!("{target}.base64"))) {
        Ok(text) => text.lines().enumerate().map(|(index, line)| input(index + 1, line)).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn input(number: usize, line: &str) -> io::Result<Vec<u8>> {
    let broken = |error| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {error}"));
    STANDARD.decode(line).map_err(broken)
}
