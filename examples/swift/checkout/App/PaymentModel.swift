import Foundation
import Kassa

/// What the payer sees.
public enum Screen: Equatable, Sendable {
    /// Nothing is being paid. `message` says what became of the last try, where there was one.
    case ready(message: String?)
    /// The payment is on its way.
    case sending
    /// The payer confirms the payment on the bank's page (3DS), which is to be opened.
    case confirm(page: URL)
    /// The payment exists, or may exist; it is being asked about.
    case waiting(message: String)
    /// It is open or in doubt, and nobody is asking any more: the payer may have it asked again.
    case stillOpen(message: String)
    /// The money was taken, as much as was asked for.
    case paid(amount: Decimal?)
    /// It ended without the money being taken.
    case notPaid(reason: String?)
}

/// One checkout, without anything of a screen's: what is shown, and what is to be remembered.
///
/// A payment is remembered before it is sent, and until the gateway has said how it ended. Whatever happens in between (the app is
/// killed while the payer is on the bank's page, the answer is lost, the payer comes back or never does), it is asked about and never
/// sent again. The return by deep link is a hint, which anybody can give: it makes the next question come at once, and the status
/// decides.
///
/// A view shows ``screen``, is told by ``onChange`` when it changes, and calls ``cameBack(by:)`` from `.onOpenURL` and whenever the scene
/// becomes active.
@MainActor public final class PaymentModel {
    /// What the payer sees.
    public private(set) var screen = Screen.ready(message: nil) {
        didSet { if screen != oldValue { onChange?(screen) } }
    }

    /// Told of every change of ``screen``.
    public var onChange: ((Screen) -> Void)?

    private let backend: any Backend
    private let store: any OpenPayment
    private let returnURL: String
    private var payment: PaymentEntry?
    private var watch: (any PaymentWatch)?
    private var following: Task<Void, Never>?

    private static let asking = "Asking about your payment"
    private static let doubtful = "Your payment is being looked at. Do not pay again"
    private static let unknown = "Your payment may have been made. Do not pay again: we are asking"

    /// A checkout, which goes on with the payment that is stored, where there is one, and shows the bank's page again.
    ///
    /// - Parameter returnURL: The app's deep link, to which the bank's page leads back.
    /// - Throws: Where the store cannot be read: there may be an open payment, so none may be begun.
    public init(backend: any Backend, store: any OpenPayment, returnURL: String) throws {
        self.backend = backend
        self.store = store
        self.returnURL = returnURL
        payment = try store.read()
        if let payment { follow(next(payment)) }
    }

    deinit {
        following?.cancel()
    }

    /// Pays by card. While another payment is open, nothing happens.
    public func payByCard(amount: Decimal, card: Card) {
        guard payment == nil, screen != .sending else { return }
        let orderNumber = newOrderNumber()
        do {
            try remember(PaymentEntry(payment: .card(orderNumber, amount: amount, currency: "KGS")))
        } catch let error as PaymentError {
            screen = .ready(message: "Nothing was paid. \(error.localizedDescription)")
            return
        } catch {
            screen = .ready(message: "Nothing was paid. The payment cannot be stored on this device")
            return
        }
        screen = .sending
        Task { await send(orderNumber, amount, card) }
    }

    /// The payer is back: by this deep link, or in some other way. A link to another payment is nobody's return.
    public func cameBack(by link: URL? = nil) {
        if let link {
            guard let payment, let order = try? ReturnRedirect(link).orderNumber, order == payment.payment.orderNumber else { return }
            if case .confirm = screen { screen = .waiting(message: Self.asking) }
        }
        if case .stillOpen = screen { return askAgain() }
        watch?.checkNow()
    }

    /// Asks again about a payment that is still open.
    public func askAgain() {
        if case .stillOpen = screen { follow(.waiting(message: Self.asking)) }
    }

    private func send(_ orderNumber: String, _ amount: Decimal, _ card: Card) async {
        do {
            let started = try await backend.payByCard(orderNumber: orderNumber, amount: amount, card: card, returnURL: returnURL)
            learn(started)
            follow(next(started))
        } catch PaymentError.outcomeUnknown(let payment, _, _, _, _, _) {
            learn(PaymentEntry(payment: payment))
            follow(.waiting(message: Self.unknown))
        } catch let error as PaymentError {
            forget(.ready(message: "Nothing was paid. \(error.localizedDescription)"))
        } catch {
            // The way to the server, or a defect: neither says anything about the money.
            follow(.waiting(message: Self.unknown))
        }
    }

    /// What comes next for the payer: the bank's page, where there is one.
    private func next(_ payment: PaymentEntry) -> Screen {
        payment.pageURL.flatMap(URL.init(string:)).map { .confirm(page: $0) } ?? .waiting(message: Self.asking)
    }

    private func follow(_ meanwhile: Screen) {
        guard let payment else { return }
        screen = meanwhile
        following?.cancel()
        following = Task { [weak self, backend] in
            do {
                let watch = try backend.watch(payment.payment)
                self?.watch = watch
                // The model is not held while a report is waited for.
                while let report = try await watch.next() { self?.take(report) }
                self?.askingEnded()
            } catch is CancellationError {
                // Another question follows, or nobody is there any more.
            } catch {
                // The asking has ended; that says nothing about the payment.
                self?.screen = .stillOpen(message: "Your payment is still open. \(error.localizedDescription)")
            }
        }
    }

    private func take(_ report: WatchReport) {
        // A query that failed is followed by another.
        guard case .status(let verdict) = report else { return }
        switch verdict {
        case .charged(let payment, _, _): forget(.paid(amount: payment.amount))
        case .rejected(let report): forget(.notPaid(reason: report.reason))
        case .open, .contradicted, .unverifiable: break
        }
    }

    /// The watch has no more reports. Where none said how the payment ended, it is for a person at the shop, and stays remembered.
    private func askingEnded() {
        if payment != nil { screen = .stillOpen(message: Self.doubtful) }
    }

    private func remember(_ known: PaymentEntry) throws {
        try store.write(known)
        payment = known
    }

    /// An entry that knows more. Where it cannot be stored, what is stored is enough to ask with.
    private func learn(_ known: PaymentEntry) {
        try? store.write(known)
        payment = known
    }

    private func forget(_ end: Screen) {
        payment = nil
        watch = nil
        // Where that fails, the next start asks once more, and hears the same.
        try? store.write(nil)
        screen = end
    }
}
