import Foundation
import Kassa

/// What the payer sees.
public enum Screen: Equatable, Sendable {
    /// Nothing was paid yet. `message` says what became of the last try, where there was one.
    case ready(message: String?)
    /// The payment is on its way.
    case sending
    /// The payer confirms the payment on the bank's page (3DS), which is to be opened.
    case confirm(page: URL)
    /// It is found out what became of the payment.
    case asking
    /// It is open or in doubt, and nobody is asking any more, until the payer is back: **not to be paid again**.
    case stillOpen(message: String)
    /// The money was taken, as much as was asked for.
    case paid
    /// It ended without the money being taken.
    case notPaid(reason: String?)
}

/// The payment of one order, without anything of a screen's. **It remembers nothing**: the merchant's server does, in its journal, so an
/// app that was killed asks there, and is shown the bank's page again.
///
/// A view shows ``screen``, is told by ``onChange`` when it changes, and calls ``cameBack()`` when it appears, from `.onOpenURL`, and
/// whenever the scene becomes active. The return by deep link is a hint, which anybody can give: the verdict decides.
@MainActor public final class PaymentModel {
    /// What the payer sees.
    public private(set) var screen = Screen.asking {
        didSet { if screen != oldValue { onChange?(screen) } }
    }

    /// Told of every change of ``screen``.
    public var onChange: ((Screen) -> Void)?

    private let order: Order
    private let backend: any Backend
    private let returnURL: String
    private var watch: StatusWatch?
    private var work: Task<Void, Never>?

    /// - Parameter returnURL: The app's deep link, to which the bank's page leads back.
    public init(_ order: Order, backend: any Backend, returnURL: String) {
        (self.order, self.backend, self.returnURL) = (order, backend, returnURL)
    }

    deinit { work?.cancel() }

    /// Pays by card, where nothing was paid yet.
    public func pay(with card: Card) {
        guard case .ready = screen else { return }
        screen = .sending
        follow { [order, backend, returnURL] in try await backend.pay(order, card: card, returnURL: returnURL) }
    }

    /// The payer is there, or back: the next question comes at once.
    public func cameBack() {
        if let watch { return watch.checkNow() }
        switch screen {
        case .ready(message: .some), .paid, .notPaid: return  // nothing is open
        case .ready, .sending, .confirm, .asking, .stillOpen: break
        }
        guard work == nil else { return }
        screen = .asking
        follow { [order, backend] in try await backend.payment(of: order) }
    }

    /// The model is not held meanwhile.
    private func follow(_ find: @escaping @Sendable () async throws -> JournalEntry?) {
        work = Task { [weak self, backend] in
            let end: Screen
            do {
                if let entry = try await find() {
                    let watch = try backend.watch(entry.payment)
                    self?.show(entry, watch)
                    end = Self.screen(of: try await watch.outcome())
                } else {
                    end = .ready(message: nil)
                }
            } catch {
                end = self?.screen(after: error) ?? .asking
            }
            self?.finish(end)
        }
    }

    private func show(_ entry: JournalEntry, _ watch: StatusWatch) {
        self.watch = watch
        screen = entry.pageURL.flatMap(URL.init(string:)).map { .confirm(page: $0) } ?? .asking
    }

    private func finish(_ end: Screen) {
        (watch, work) = (nil, nil)
        screen = end
    }

    private static func screen(of verdict: Verdict?) -> Screen {
        switch verdict {
        case .charged: .paid
        case .rejected(let report): .notPaid(reason: report.reason)
        case .open, .contradicted, .unverifiable, nil: .stillOpen(message: "Your payment is being looked at. Do not pay again")
        }
    }

    /// Only one that was about to be sent is known not to be: any other error says nothing about the money.
    private func screen(after error: any Error) -> Screen {
        if screen == .sending, let error = error as? PaymentError, !error.paymentMayExist {
            return .ready(message: "Nothing was paid. \(error.localizedDescription)")
        }
        return .stillOpen(message: "Your payment may have been made. Do not pay again: we ask as soon as we can")
    }
}
