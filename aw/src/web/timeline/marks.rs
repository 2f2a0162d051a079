//! The shapes of marks. Each kind of argument has its own, so that nobody needs the colours.

use aw_core::Kind;

/// The outline of a mark around a point. Marks that concern the arbitrator are larger.
pub(super) fn path(kind: Kind, x: i32, y: i32, size: i32) -> String {
    let corners: &[(i32, i32)] = match kind {
        // A square.
        Kind::Motion => &[(-8, -8), (8, -8), (8, 8), (-8, 8)],
        Kind::Claim => {
            let r = size * 8 / 10;
            return format!("M{} {y}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 -{} 0Z", x - r, 2 * r, 2 * r);
        }
        // A triangle that points up.
        Kind::Appeal => &[(0, -13), (12, 9), (-12, 9)],
        // A diamond.
        Kind::Ruling => &[(0, -13), (13, 0), (0, 13), (-13, 0)],
        // A stop sign.
        Kind::Intervention => {
            &[(-5, -12), (5, -12), (12, -5), (12, 5), (5, 12), (-5, 12), (-12, 5), (-12, -5)]
        }
        // A star.
        Kind::Resolution => &[
            (0, -13),
            (3, -4),
            (12, -4),
            (5, 2),
            (8, 11),
            (0, 6),
            (-8, 11),
            (-5, 2),
            (-12, -4),
            (-3, -4),
        ],
    };
    let mut path = String::new();
    for (number, (right, down)) in corners.iter().enumerate() {
        let letter = if number == 0 { 'M' } else { 'L' };
        // In tenths, because corners are in tenths of the size.
        let at = |middle: i32, corner: i32| f64::from(middle * 10 + corner * size) / 10.0;
        path.push_str(&format!("{letter}{} {}", at(x, *right), at(y, *down)));
    }
    path.push('Z');
    path
}
