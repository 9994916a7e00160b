//! Rows in which things stand side by side without touching.

/// Rows, filled from the first.
#[derive(Clone, Debug)]
pub struct Shelf {
    rows: Vec<Vec<(f64, f64)>>,
    most: usize,
}

impl Shelf {
    /// Of at most `most` rows.
    pub fn new(most: usize) -> Shelf {
        Shelf { rows: Vec::new(), most }
    }

    /// As [`Shelf::put`], in the first rows only.
    pub fn put_low(&mut self, from: f64, to: f64, rows: usize) -> Option<usize> {
        let most = std::mem::replace(&mut self.most, rows);
        let high = self.rows.split_off(rows.min(self.rows.len()));
        let row = self.put(from, to);
        self.rows.extend(high);
        self.most = most;
        row
    }

    /// Puts something that reaches from `from` to `to` into the first row with room for it.
    pub fn put(&mut self, from: f64, to: f64) -> Option<usize> {
        let free = self.rows.iter().position(|row| row.iter().all(|&(left, right)| to <= left || right <= from));
        let row = free.or_else(|| {
            (self.rows.len() < self.most).then(|| {
                self.rows.push(Vec::new());
                self.rows.len() - 1
            })
        })?;
        self.rows[row].push((from, to));
        Some(row)
    }
}

/// How wide a bold text is, about.
pub fn bold(text: &str, size: f64) -> f64 {
    wide(text, size) * 1.12
}

/// How wide a text is, about, at a size in pixels.
pub fn wide(text: &str, size: f64) -> f64 {
    let share = |c: char| match c {
        '0'..='9' | '+' => 0.64,
        ' ' | '.' | ',' | ':' | 'i' | 'l' | 'j' | 't' | 'f' | 'r' | '-' => 0.36,
        'm' | 'w' | 'M' | 'W' => 0.9,
        _ => 0.6,
    };
    text.chars().map(share).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_goes_one_row_further_or_nowhere() {
        let mut shelf = Shelf::new(2);
        let rows = [(0.0, 10.0), (5.0, 15.0), (10.0, 20.0), (12.0, 14.0)].map(|(from, to)| shelf.put(from, to));
        assert_eq!(rows, [Some(0), Some(1), Some(0), None]);
        assert_eq!(shelf.put_low(12.0, 14.0, 1), None);
        assert_eq!(shelf.put_low(30.0, 40.0, 1), Some(0));
    }
}
