import Kassa

/// What the payer does, and the app for them.
@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The ways to pay that can be begun now.
    public var methods: [PaymentMethod] {
        switch state {
        case .ready(let methods, _, _), .openPage(_, _, let methods, _), .waiting(_, let methods, _): methods
        case .opening, .sending, .enterOtp, .showQr, .paid, .notPaid, .personNeeded, .expired, .tokenExpired: []
        }
    }

    /// The method that ``pay()`` starts: the chosen one, the app's preselection, or the only one; nil if none can be started now.
    public var method: PaymentMethod? {
        if let chosen, methods.contains(chosen) { return chosen }
        // While another payment is open, or a QR code that was left can be paid, the payer chooses for themselves.
        guard case .ready(let methods, _, false) = state, !mayHavePaid else { return onlyMethod }
        if let method = given.method, methods.contains(method) { return method }
        return onlyMethod
    }

    private var onlyMethod: PaymentMethod? {
        guard case .ready(let methods, _, _) = state, methods.count == 1 else { return nil }
        return methods.first
    }

    /// The payer chooses a way to pay. Nothing is sent.
    public func choose(_ method: PaymentMethod) {
        // Once, however often it is tapped, until something is sent.
        if !isClosed && toldMethod != method && methods.contains(method) {
            toldMethod = method
            tell(.methodChosen(method))
        }
        chosen = method
    }

    /// Pays with the chosen method and the input. If a field is invalid, nothing is sent, and ``error(of:)`` has the error. If another
    /// payment is open (``canKeepMethod``), this one replaces it.
    public func pay() {
        switch method {
        case .payForm: act { try checkout.payByForm() }
        case .qr: act { try checkout.payByQr() }
        case .mbank: act { try checkout.payByMbank(phone: typedPhone) }
        case .megapay: act { try checkout.payByMegapay(phone: typedPhone) }
        case .card: act { try checkout.payByCard(typedCard.card()) }
        case nil: break
        }
    }

    /// Whether the payer can leave the open payment for another number or another way to pay: they typed somebody else's number, or have no
    /// app that reads the code.
    public var canChangeMethod: Bool {
        switch state {
        case .enterOtp(let entry): entry.canChangeMethod
        case .showQr(_, _, let canChange): canChange
        case .opening, .ready, .sending, .openPage, .waiting, .paid, .notPaid, .personNeeded, .expired, .tokenExpired: false
        }
    }

    /// The payer chooses another number or method. Nothing is sent, and the open payment stays unchanged until ``pay()``.
    public func changeMethod() {
        act { try checkout.changeMethod() }
    }

    /// Whether the payer chooses again though a payment is open, and can go back to that.
    public var canKeepMethod: Bool {
        if case .ready(_, _, let canKeep) = state { canKeep } else { false }
    }

    /// The payer goes back to the open payment.
    public func keepMethod() {
        act { try checkout.keepMethod() }
    }

    /// Confirms the payment with the entered code. A code that is too short is not sent, so it uses up no attempt.
    public func confirm() {
        act { try checkout.confirm(otp: checkedCode(typedCode)) }
    }

    /// Whether a button that queries at once is useful: the payer may have paid, and the result is not known yet.
    public var canCheckNow: Bool {
        switch state {
        case .openPage, .showQr, .waiting: true
        case .notPaid, .expired: result == .stillOpen
        case .opening, .ready, .sending, .enterOtp, .paid, .personNeeded, .tokenExpired: false
        }
    }

    /// The payer says that they have paid: the gateway is queried at once. With a page, this counts as the return from it.
    public func checkNow() {
        if page == nil { checkout.checkNow() } else { cameBack() }
    }

    /// Continues with a new client token of the same checkout if the state is `tokenExpired`.
    public func renewToken(_ clientToken: String) { checkout.renewToken(clientToken) }

    /// What was sent is forgotten; what was not stays, with the error.
    private func act(_ action: () throws -> Void) {
        violations = [:]
        do {
            try action()
            toldMethod = nil
            // Not left to the state, which may be the same again by now.
            forgetSecrets()
        } catch PaymentError.invalid(let broken) {
            // One that says the action does not fit has no field: the state shows what is there instead.
            for violation in broken.reversed() { CheckoutField(of: violation).map { violations[$0] = violation } }
        } catch {}  // it was closed
        refresh()
    }
}
