import Foundation
import Kassa

/// This program's own port: takes the gateway's callbacks and the payers that come back.
///
/// Each payment has a reference of this program's own in the query of its two URLs (`?ref=...`), which tells whose callback it is;
/// the gateway preserves it. Nothing that arrives here is believed: the status decides.
struct Receiver: Sendable {
    private static let reference = "ref"
    private let address: String
    private let publicCallback: String?
    private let desk: Desk
    private let listener: Listener

    /// Opens the port. `publicCallback` is a URL that leads here from outside.
    init(port: Int, publicCallback: String?) throws {
        let desk = Desk()
        listener = try Listener(port: port) { Self.answer($0, desk) }
        address = "http://127.0.0.1:\(listener.port)"
        self.publicCallback = publicCallback
        self.desk = desk
    }

    /// Waits until everybody who sent something has the answer.
    func finish() { listener.finish() }

    /// The callback URL without a reference, as people need to know it.
    var shownCallbackURL: String { publicCallback ?? "\(address)/callback" }

    func callbackURL(_ reference: String) -> String { Self.adding(reference, to: shownCallbackURL) }

    /// The return URL of a payment: a page of this program.
    func returnURL(_ reference: String) -> String { Self.adding(reference, to: "\(address)/return") }

    /// Takes in what arrives for a payment from now on.
    func expect(_ reference: String) -> Inbox { desk.open(reference) }

    /// Takes in every callback that no payment waits for.
    func expectEverything() -> Inbox { desk.open(nil) }

    private static func answer(_ request: Listener.Request, _ desk: Desk) -> Listener.Response {
        let url = URLComponents(string: "http://127.0.0.1\(request.target)")
        let reference = url?.queryItems?.first { $0.name == Self.reference }?.value
        switch (request.method, url?.path) {
        // At any path: a tunnel may change it.
        case ("POST", _): return takeCallback(request.body, desk.inbox(reference))
        case ("GET", "/return"): return payerReturns(request.target, desk.inbox(reference))
        default: return Listener.Response(status: 404)
        }
    }

    private static func takeCallback(_ body: Data, _ inbox: Inbox?) -> Listener.Response {
        guard let callback = try? Callback(body) else { return Listener.Response(status: 400) }
        guard let inbox else { return Listener.Response(status: 404) }
        return Listener.Response(status: inbox.receive(callback) ? 200 : 503)
    }

    private static func payerReturns(_ target: String, _ inbox: Inbox?) -> Listener.Response {
        let redirect = try? ReturnRedirect("http://127.0.0.1\(target)")
        if let redirect { inbox?.receive(redirect) }
        let text =
            redirect == nil
            ? "This page is for payers who come back from the gateway."
            : "Thank you. The shop is asking for the status of your payment; you may close this page."
        let page = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Checkout</title><h1>Checkout</h1><p>\(text)</p></html>\n"
        return Listener.Response(status: 200, html: page)
    }

    /// Text that is no URL is left as it is: the request's own rules will name it.
    private static func adding(_ reference: String, to url: String) -> String {
        guard var components = URLComponents(string: url) else { return url }
        components.percentEncodedQueryItems = (components.percentEncodedQueryItems ?? []) + [.init(name: Self.reference, value: reference)]
        return components.string ?? url
    }
}

/// Who waits for what.
///
/// Unchecked, because the compiler does not see that the boxes are behind the lock.
private final class Desk: @unchecked Sendable {
    private let lock = NSLock()
    private var boxes: [String: Inbox] = [:]
    private var everything: Inbox?

    func open(_ reference: String?) -> Inbox {
        let inbox = Inbox()
        lock.withLock {
            if let reference { boxes[reference] = inbox } else { everything = inbox }
        }
        return inbox
    }

    func inbox(_ reference: String?) -> Inbox? {
        lock.withLock { reference.flatMap { boxes[$0] } ?? everything }
    }
}
