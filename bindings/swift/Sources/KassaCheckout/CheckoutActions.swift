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

    /// The way to pay that ``pay()`` begins: the chosen one, or the one that the app gave, or the only one there is; nil where none of them
    /// can be begun now.
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

    /// Pays by the chosen way, with what was typed for it. Where a field is not right nothing is sent, and ``error(of:)`` says why. Where
    /// another payment is open (``canKeepMethod``), this one replaces it.
    public func pay() {
        switch method {
        case .payForm: act { try checkout.payByForm() }
        case .qr: act { try checkout.payByQr() }
        case .mbank: act { try checkout.payByMbank(phone: typedPhone) }
        case .card: act { try checkout.payByCard(typedCard.card()) }
        case nil: break
        }
    }

    /// Whether the payer can leave the open payment for another number or another way to pay: they typed somebody else's number, or have no
    /// app that reads the code.
    public var canChangeMethod: Bool {
        switch state {
        case .enterOtp(_, _, _, let canChange), .showQr(_, _, let canChange): canChange
        case .opening, .ready, .sending, .openPage, .waiting, .paid, .notPaid, .personNeeded, .expired, .tokenExpired: false
        }
    }

    /// The payer chooses another number or another way to pay. Nothing is sent, and the open payment stays as it is until ``pay()``.
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

    /// Confirms the payment by the mobile bank with the typed code. Where that is too short to be one nothing is sent, so it uses up no try.
    public func confirm() {
        act { try checkout.confirm(otp: checkedCode(typedCode)) }
    }

    /// Whether a button that asks at once is of use: the payer may have paid, and it is not known here yet.
    public var canCheckNow: Bool {
        switch state {
        case .openPage, .showQr, .waiting: true
        case .notPaid, .expired: result == .stillOpen
        case .opening, .ready, .sending, .enterOtp, .paid, .personNeeded, .tokenExpired: false
        }
    }

    /// The payer says that they have paid: it is asked at once. Where a page is there, they have come back from it.
    public func checkNow() {
        if page == nil { checkout.checkNow() } else { cameBack() }
    }

    /// Goes on with another client token of the same checkout, where the state is `tokenExpired`.
    public func renewToken(_ clientToken: String) { checkout.renewToken(clientToken) }

    /// What was sent is forgotten; what was not stays, with what is wrong with it.
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
