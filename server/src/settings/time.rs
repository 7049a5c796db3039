//! Durations as people write them: `15m`, `1h30m`, `60s`, `500ms`.

use std::time::Duration;

const SENTENCE: &str = "must be a time with its unit, such as 500ms, 60s, 15m, 1h30m or 2d";

/// Reads a duration: whole numbers, each with its unit, from the largest to the smallest.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let (mut total, mut last) = (0_u64, u64::MAX);
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let letters = after.len() - after.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
        let (unit, after) = after.split_at(letters);
        let unit = unit_ms(unit).filter(|unit| *unit < last).ok_or(SENTENCE)?;
        let number: u64 = number.parse().map_err(|_| SENTENCE)?;
        total = number.checked_mul(unit).and_then(|time| time.checked_add(total)).ok_or("is too long")?;
        (rest, last) = (after, unit);
    }
    if text.is_empty() { Err(SENTENCE.to_owned()) } else { Ok(Duration::from_millis(total)) }
}

fn unit_ms(unit: &str) -> Option<u64> {
    Some(match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    })
}

/// A duration within limits, which are written as the setting is.
pub(super) fn within(least: &'static str, most: &'static str) -> impl Fn(&str) -> Result<Duration, String> {
    move |text| {
        let time = parse(text)?;
        if parse(least).is_ok_and(|least| time < least) || parse(most).is_ok_and(|most| time > most) {
            return Err(format!("must be from {least} to {most}"));
        }
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        for (text, ms) in [("500ms", 500), ("60s", 60_000), ("15m", 900_000), ("1h30m", 5_400_000), ("2d", 172_800_000)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "15", "m", "15 m", "1.5h", "-1s", "30m1h", "1h1h", "15M", "s15", "15mm", "１５m"] {
            assert_eq!(parse(text), Err(SENTENCE.to_owned()), "{text}");
        }
        assert!(parse("213503982335d").is_err_and(|text| text == "is too long"));
        assert_eq!(within("1s", "1h")("1h1ms"), Err("must be from 1s to 1h".to_owned()));
        assert!(within("1s", "1h")("1h").is_ok());
    }
}
