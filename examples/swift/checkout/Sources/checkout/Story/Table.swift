/// The table at the end.
enum Table {
    /// A row a payment: flow, order, what happened, callbacks seen, time.
    static func of(_ reports: [Report]) -> String {
        let header = ["Flow", "Order", "What happened", "Callbacks", "Time"]
        let rows = reports.map { [$0.flow, $0.order ?? "not named", $0.whatHappened, $0.callbackSummary, $0.elapsed.inWords] }
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        func rule(_ left: String, _ line: String, _ cross: String, _ right: String) -> String {
            left + widths.map { String(repeating: line, count: $0 + 2) }.joined(separator: cross) + right
        }
        func row(_ cells: [String]) -> String {
            let padded = zip(cells, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == cells.count - 1 ? space + cell.0 : cell.0 + space
            }
            return "│ \(padded.joined(separator: " ┆ ")) │"
        }
        let lines = [rule("┌", "─", "┬", "┐"), row(header), rule("╞", "═", "╪", "╡")] + rows.map(row)
        return (lines + [rule("└", "─", "┴", "┘")]).joined(separator: "\n")
    }
}
