import Foundation
import Kassa
import KassaStage

/// The payer's app on one device: a checkout, and what its screen has shown last.
final class CheckoutApp {
    private let checkout: Checkout
    private let states: CheckoutStates.Iterator
    private let token: String
    private var shown: JSON = .null

    init(_ scene: Stage.Scene, _ input: JSON) throws {
        token = input["client_token"].string ?? scene.clientToken
        checkout = try Checkout(
            serverURL: input["server_url"].string ?? scene.serverURL, clientToken: token,
            renewToken: input["renews_after_failures"].int.map { Self.renewal(failures: $0, scene) })
        states = checkout.states.makeAsyncIterator()
    }

    /// What the payer does, or the app for them; nil where the name is none of theirs.
    func act(_ name: String, _ input: JSON) throws -> JSON? {
        switch name {
        case "pay_by_mbank": try checkout.payByMbank(phone: input["phone"].text)
        case "pay_by_megapay": try checkout.payByMegapay(phone: input["phone"].text)
        case "pay_by_qr": try checkout.payByQr()
        case "pay_by_form": try checkout.payByForm()
        case "pay_by_card":
            let card = Card(
                pan: input["pan"].text, expiryMonth: input["expiry_month"].text, expiryYear: input["expiry_year"].whole,
                cvc: input["cvc"].text, holderName: input["holder_name"].text)
            try checkout.payByCard(card)
        case "confirm": try checkout.confirm(otp: input["otp"].text)
        case "change_method": try checkout.changeMethod()
        case "keep_method": try checkout.keepMethod()
        case "page_opened": checkout.pageOpened()
        case "came_back": checkout.cameBack()
        case "check_now": checkout.checkNow()
        case "renew_token": checkout.renewToken(input["client_token"].text)
        case "close": checkout.close()
        case "details": return checkout.details.canonical
        case "print": return .string([everyForm(of: checkout), everyForm(of: checkout.states)].joined(separator: "\n"))
        default: return nil
        }
        return .null
    }

    /// Waits until the screen shows what is expected. It must show nothing of `never` on the way.
    func until(_ expected: JSON, never: [JSON]) async throws {
        var seen = [shown]
        while true {
            if let wrong = never.first(where: { matches($0, shown["kind"]) }) {
                throw Problem("must never show \(wrong), and did: \(seen)")
            }
            if matches(expected, shown) { return }
            guard let next = await next() else { throw Problem("does not come to \(expected): \(seen)") }
            shown = next.canonical
            seen.append(shown)
            if next == nil && expected != .null { throw Problem("ended before \(expected): \(seen)") }
        }
    }

    /// The next state, which is nil at the end; nothing at all where none comes.
    private func next() async -> CheckoutState?? {
        let asking = Task { [states] in
            var states = states
            return await states.next()
        }
        let limit = Task {
            try await Task.sleep(for: .seconds(patience))
            asking.cancel()
        }
        defer { limit.cancel() }
        let state = await asking.value
        return asking.isCancelled ? .none : .some(state)
    }

    /// What the app does when a token has run out: it fails a few times, then it has a new one.
    private static func renewal(failures: Int, _ scene: Stage.Scene) -> @Sendable () async throws -> String {
        let calls = Calls()
        return {
            guard await calls.count() > failures else { throw Problem("the shop does not answer") }
            return try await scene.newToken()
        }
    }
}

private actor Calls {
    private var made = 0

    func count() -> Int {
        made += 1
        return made
    }
}

extension PaymentMethod: Canonical {
    var canonical: JSON { .string(rawValue) }
}

extension CheckoutMessage: Canonical {
    var canonical: JSON { ["topic": .string(topic.rawValue), "reason": JSON(reason), "decline": JSON(decline?.rawValue)] }
}

extension CheckoutDetails: Canonical {
    var canonical: JSON {
        [
            "reference": .string(reference), "amount": .string("\(amount)"), "currency": .string(currency),
            "description": .string(description), "methods": methods.canonical, "return_url": .string(returnURL),
            "expires_at_ms": JSON(milliseconds(expiresAt)),
        ]
    }
}

/// Of Unix time.
private func milliseconds(_ moment: Date) -> Int { Int((moment.timeIntervalSince1970 * 1000).rounded()) }

extension CheckoutState: Canonical {
    var canonical: JSON {
        var form = fields
        form["kind"] = .string(kind)
        return .object(form)
    }

    private var fields: [String: JSON] {
        switch self {
        case .opening(let message), .sending(let message): ["message": message.canonical]
        case .ready(let methods, let message, let canKeepMethod):
            ["methods": methods.canonical, "message": message.canonical, "can_keep_method": .bool(canKeepMethod)]
        case .enterOtp(let entry):
            [
                "method": entry.method.canonical, "attempts_left": JSON(entry.attemptsLeft), "message": entry.message.canonical,
                "phone_last2": JSON(entry.phoneLast2), "commission": JSON(entry.commission.map { "\($0)" }),
                "total": JSON(entry.total.map { "\($0)" }), "code_expires_at_ms": JSON(entry.codeExpiresAt.map(milliseconds)),
                "can_change_method": .bool(entry.canChangeMethod),
            ]
        case .openPage(let url, let begunHere, let methods, let message):
            [
                "url": .string(url), "begun_here": .bool(begunHere), "methods": methods.canonical, "message": message.canonical,
            ]
        case .showQr(let text, let message, let canChangeMethod):
            ["text": .string(text), "message": message.canonical, "can_change_method": .bool(canChangeMethod)]
        case .waiting(let pageURL, let methods, let message):
            ["page_url": JSON(pageURL), "methods": methods.canonical, "message": message.canonical]
        case .paid(let amount, let currency): ["amount": .string("\(amount)"), "currency": .string(currency)]
        case .notPaid(let reason): ["reason": reason.canonical]
        case .personNeeded(let message): ["message": message.canonical]
        case .expired, .tokenExpired: [:]
        }
    }
}
