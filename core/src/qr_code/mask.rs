//! Mask pattern of a QR code. The standard (ISO/IEC 18004) selects the one of eight with the lowest penalty, which
//! confuses scanners least. Here the penalties of whole rows are counted at once, as bits.

use qrcode::{
    canvas::{Canvas, MaskPattern, Module},
    types::Color,
};

/// Whether a mask inverts the module in a column and a row.
type Inverts = fn(usize, usize) -> bool;

const PATTERNS: [(MaskPattern, Inverts); 8] = [
    (MaskPattern::Checkerboard, |x, y| (x + y).is_multiple_of(2)),
    (MaskPattern::HorizontalLines, |_, y| y.is_multiple_of(2)),
    (MaskPattern::VerticalLines, |x, _| x.is_multiple_of(3)),
    (MaskPattern::DiagonalLines, |x, y| (x + y).is_multiple_of(3)),
    (MaskPattern::LargeCheckerboard, |x, y| (y / 2 + x / 3).is_multiple_of(2)),
    (MaskPattern::Fields, |x, y| (x * y).is_multiple_of(6)),
    (MaskPattern::Diamonds, |x, y| (x * y % 2 + x * y % 3).is_multiple_of(2)),
    (MaskPattern::Meadow, |x, y| ((x + y) % 2 + x * y % 3).is_multiple_of(2)),
];

/// Every mask pattern repeats after this many rows and columns.
const PERIOD: usize = 12;

/// The modules of a code whose data has been drawn, under the best mask.
pub(super) fn masked(mut canvas: Canvas, width: usize) -> Vec<Color> {
    let unmasked = Square::of(&canvas, width);
    let (best, _) = PATTERNS
        .into_iter()
        .min_by_key(|(_, inverts)| penalty(&unmasked.under(*inverts)))
        .expect("there are eight patterns");
    canvas.apply_mask(best);
    canvas.into_colors()
}

/// A row of up to 177 modules; bit 0 is the first one.
#[derive(Clone, Copy, Default)]
struct Line([u128; 2]);

impl Line {
    fn set(&mut self, at: usize) {
        self.0[at / 128] |= 1 << (at % 128);
    }

    /// The first `count` modules.
    fn first(count: usize) -> Self {
        let part = |count: usize| if count >= 128 { u128::MAX } else { (1 << count) - 1 };
        Self([part(count), part(count.saturating_sub(128))])
    }

    /// The modules from `by` on, moved to the front.
    fn from(self, by: usize) -> Self {
        let Self([low, high]) = self;
        Self([low >> by | high << (128 - by), high >> by])
    }

    fn and(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    fn xor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    fn not(self) -> Self {
        Self(self.0.map(|part| !part))
    }

    fn count(self) -> u32 {
        self.0.iter().map(|part| part.count_ones()).sum()
    }
}

/// A code before it is masked.
struct Square {
    rows: Vec<Line>,
    /// The modules to which a mask applies.
    data: Vec<Line>,
}

impl Square {
    fn of(canvas: &Canvas, width: usize) -> Self {
        let none = vec![Line::default(); width];
        let mut square = Self { rows: none.clone(), data: none };
        for (y, (row, data)) in square.rows.iter_mut().zip(&mut square.data).enumerate() {
            for x in 0..width {
                // A code is at most 177 modules wide.
                match canvas.get(x as i16, y as i16) {
                    Module::Masked(Color::Light) => {}
                    Module::Masked(Color::Dark) => row.set(x),
                    Module::Unmasked(Color::Dark) => {
                        row.set(x);
                        data.set(x);
                    }
                    Module::Unmasked(Color::Light) | Module::Empty => data.set(x),
                }
            }
        }
        square
    }

    fn under(&self, inverts: Inverts) -> Vec<Line> {
        let patterns: [Line; PERIOD] = std::array::from_fn(|y| pattern_row(self.rows.len(), |x| inverts(x, y)));
        let lines = self.rows.iter().zip(&self.data).enumerate();
        lines.map(|(y, (row, data))| row.xor(data.and(patterns[y % PERIOD]))).collect()
    }
}

/// The modules that a mask inverts in one row, computed from its first columns.
fn pattern_row(width: usize, inverts: impl Fn(usize) -> bool) -> Line {
    let mut row = Line::default();
    for first in (0..PERIOD).filter(|x| inverts(*x)) {
        (first..width).step_by(PERIOD).for_each(|x| row.set(x));
    }
    row
}

/// The four penalties of the standard, added up. Along a row a module is compared with the same row moved; along the
/// columns all modules of a row at once are compared with those of the rows below.
fn penalty(rows: &[Line]) -> u32 {
    let width = rows.len();
    let along_rows: u32 = rows.iter().map(|row| runs_in(*row, width) + finder_likes_in(*row, width)).sum();
    along_rows + runs_across(rows) + finder_likes_across(rows) + blocks(rows) + imbalance(rows)
}

/// Penalty for runs: 3 for five modules of one colour in a row, and 1 for each beyond the fifth. `fives` are the places
/// where five of them begin. A run of n modules has n - 4 such places, and only the last is not followed by another
/// one.
fn of_runs(fives: Line, after: Line) -> u32 {
    fives.count() + 2 * fives.and(after.not()).count()
}

fn runs_in(row: Line, width: usize) -> u32 {
    let same = same_as_next(row, width);
    let pairs = same.and(same.from(1));
    let fives = pairs.and(pairs.from(2));
    of_runs(fives, fives.from(1))
}

fn runs_across(rows: &[Line]) -> u32 {
    let every = Line::first(rows.len());
    let same: Vec<Line> = rows.windows(2).map(|pair| pair[0].xor(pair[1]).not().and(every)).collect();
    let mut fives = same.windows(4).map(|same| same[0].and(same[1]).and(same[2].and(same[3]))).peekable();
    let mut total = 0;
    while let Some(these) = fives.next() {
        total += of_runs(these, fives.peek().copied().unwrap_or_default());
    }
    total
}

/// The modules that are like the one after them.
fn same_as_next(row: Line, width: usize) -> Line {
    row.xor(row.from(1)).not().and(Line::first(width - 1))
}

/// Penalty for a pattern like a finder pattern, with four light modules before or after it: 40 for each.
fn finder_likes_in(row: Line, width: usize) -> u32 {
    let light = row.not().and(Line::first(width));
    let finder = row.and(light.from(1)).and(row.from(2)).and(row.from(3)).and(row.from(4)).and(light.from(5));
    let finder = finder.and(row.from(6));
    let two_light = light.and(light.from(1));
    let four_light = two_light.and(two_light.from(2));
    40 * (finder.and(four_light.from(7)).count() + finder.from(4).and(four_light).count())
}

fn finder_likes_across(rows: &[Line]) -> u32 {
    let every = Line::first(rows.len());
    let light = |row: Line| row.not().and(every);
    let finder = |rows: &[Line]| {
        let [one, two, three, four, five, six, seven] = [0, 1, 2, 3, 4, 5, 6].map(|at| rows[at]);
        one.and(light(two)).and(three).and(four).and(five).and(light(six)).and(seven)
    };
    let four_light = |rows: &[Line]| rows[..4].iter().fold(every, |all, row| all.and(light(*row)));
    let of_eleven = |rows: &[Line]| {
        finder(rows).and(four_light(&rows[7..])).count() + four_light(rows).and(finder(&rows[4..])).count()
    };
    40 * rows.windows(11).map(of_eleven).sum::<u32>()
}

/// Penalty for squares of two by two modules of one colour: 3 for each.
fn blocks(rows: &[Line]) -> u32 {
    let width = rows.len();
    let of_pair = |pair: &[Line]| {
        let same = same_as_next(pair[0], width).and(same_as_next(pair[1], width));
        same.and(pair[0].xor(pair[1]).not()).count()
    };
    3 * rows.windows(2).map(of_pair).sum::<u32>()
}

/// Penalty for imbalance: 10 for each 5 % that the share of dark modules is away from a half.
fn imbalance(rows: &[Line]) -> u32 {
    let modules = (rows.len() * rows.len()) as u32;
    let dark: u32 = rows.iter().map(|row| row.count()).sum();
    10 * ((dark * 20).abs_diff(modules * 10) / modules)
}

#[cfg(test)]
mod tests {
    use qrcode::{EcLevel, Version, bits::Bits, ec::construct_codewords};

    use super::*;

    /// Reference implementation (test oracle): the penalties as the standard defines them, module by module.
    fn by_the_book(rows: &[Vec<bool>]) -> u32 {
        let width = rows.len();
        let columns: Vec<Vec<bool>> = (0..width).map(|x| rows.iter().map(|row| row[x]).collect()).collect();
        let mut penalty = 0;
        for line in rows.iter().chain(&columns) {
            for run in line.chunk_by(|one, next| one == next).filter(|run| run.len() >= 5) {
                penalty += run.len() as u32 - 2;
            }
            let finder = [true, false, true, true, true, false, true];
            for window in line.windows(11) {
                penalty += 40 * u32::from(window[..7] == finder && window[7..] == [false; 4]);
                penalty += 40 * u32::from(window[4..] == finder && window[..4] == [false; 4]);
            }
        }
        for (one, next) in rows.iter().zip(&rows[1..]) {
            for (above, below) in one.windows(2).zip(next.windows(2)) {
                penalty += 3 * u32::from(above[0] == above[1] && above == below);
            }
        }
        let dark = rows.iter().flatten().filter(|dark| **dark).count() as f64;
        let share = dark * 100.0 / (width * width) as f64;
        penalty + 10 * ((share - 50.0).abs() / 5.0) as u32
    }

    #[test]
    fn whole_rows_are_weighed_as_module_by_module() {
        for version in [1, 2, 7, 25, 32, 40] {
            let mut bits = Bits::new(Version::Normal(version));
            bits.push_byte_data(format!("kassa {version}").as_bytes()).unwrap();
            bits.push_terminator(EcLevel::M).unwrap();
            let (data, ec) = construct_codewords(&bits.into_bytes(), Version::Normal(version), EcLevel::M).unwrap();
            let mut canvas = Canvas::new(Version::Normal(version), EcLevel::M);
            canvas.draw_all_functional_patterns();
            canvas.draw_data(&data, &ec);
            let width = 17 + 4 * version as usize;
            let square = Square::of(&canvas, width);
            for (pattern, inverts) in PATTERNS {
                let module = |x, y| canvas.get(x as i16, y as i16).mask(inverts(x, y)).is_dark();
                let rows: Vec<Vec<bool>> = (0..width).map(|y| (0..width).map(|x| module(x, y)).collect()).collect();
                let weighed = penalty(&square.under(inverts));
                assert_eq!(weighed, by_the_book(&rows), "version {version}, {pattern:?}");
            }
        }
    }

    #[test]
    fn mask_patterns_match_drawn_code() {
        for (pattern, inverts) in PATTERNS {
            let mut canvas = Canvas::new(Version::Normal(5), EcLevel::M);
            canvas.apply_mask(pattern);
            for (x, y) in (9..28).flat_map(|x| (9..28).map(move |y| (x, y))) {
                assert_eq!(canvas.get(x as i16, y as i16).is_dark(), inverts(x, y), "{pattern:?} at {x}, {y}");
            }
        }
    }
}
