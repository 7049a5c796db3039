/// Before the nine digits of a number of the country.
private let country = "996"

/// A number as it is sent, which is what `normalizedPhone` of the core's makes of what was typed; as people write it.
func shownPhone(_ sent: String) -> String {
    guard sent.hasPrefix(country) else { return "+\(sent)" }
    let national = sent.dropFirst(country.count)
    let groups = stride(from: 0, to: national.count, by: 3).map { String(national.dropFirst($0).prefix(3)) }
    return (["+\(country)"] + groups).joined(separator: " ")
}
