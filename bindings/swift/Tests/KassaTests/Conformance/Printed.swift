import Foundation
import Kassa
import KassaStage

/// Everything that Swift can print of a value.
func everyForm(of value: Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    var written = ""
    print(value, to: &written)
    return [String(describing: value), String(reflecting: value), "\(value)", written, dumped].joined(separator: "\n")
}

func everyForm(ofError error: any Error) -> String {
    let bridged = error as NSError
    let forms = [everyForm(of: error), everyForm(of: bridged), everyForm(of: bridged.userInfo), error.localizedDescription]
    return forms.joined(separator: "\n")
}

/// What a vector forbids or wants to see in what was printed.
func printProblems(_ spec: JSON, _ printed: String) -> [String] {
    let leaked = texts(spec["forbidden"]).filter(printed.contains).map { "\($0) is printed: \(printed)" }
    let missing = texts(spec["shows"]).filter { !printed.contains($0) }.map { "\($0) is not in: \(printed)" }
    return leaked + missing
}

func texts(_ list: JSON) -> [String] { (list.array ?? []).map(\.text) }
