import Foundation
import Kassa
import Observation

/// The state and input of a payment screen, without its UI: it takes a checkout of the merchant's server from the choice of a method to
/// its result. `KassaCheckoutView` is a view of it; a view of your own reads the same properties.
///
/// ```swift
/// let model = try CheckoutModel(serverURL: "https://pay.shop.example.kg", clientToken: token) { try await newTokenFromTheShop() }
/// model.choose(.mbank)
/// model.phone = "0555000101"
/// print(model.phoneHint)  // The code goes to +996 555 000 101
/// model.pay()
/// ```
///
/// It polls the checkout until ``close()`` or until it is released. Actions return at once and never throw: invalid input is not sent,
/// and the error is shown at its field (``error(of:)``).
///
/// **Card fields and codes are cleared when they are sent**, after five minutes in the background, when the state no longer needs them,
/// and when the screen closes; they are never part of the saved state (``draft``).
@available(iOS 17, macOS 14, *)
@MainActor @Observable public final class CheckoutModel {
    /// The checkout's state.
    public private(set) var state: CheckoutState

    /// The checkout's details; nil until the server has answered.
    public private(set) var details: CheckoutDetails?

    /// The language of everything that the payer reads.
    public var language: Language

    /// The shop's name above the amount, if any.
    public var title: String?

    /// How the screen looks.
    public var appearance: CheckoutAppearance

    /// Takes what happens on the screen, for the app's own statistics. Give it as soon as the model is made: what happened before is
    /// not told, except `opened`.
    @ObservationIgnored public var onEvent: (@MainActor (CheckoutEvent) -> Void)?

    @ObservationIgnored var isOpenedTold = false
    /// The way to pay of which the app was told last, until the payer has done something with it.
    @ObservationIgnored var toldMethod: PaymentMethod?

    /// The QR code to show, as a black and white PNG of 800 by 800 pixels; nil if the state has none.
    public private(set) var qrPicture: Data?

    /// No app on this device has opened the QR code that is shown.
    var isBankAppMissing = false
    /// Whether its picture was saved; nil before that.
    var isPictureSaved: Bool?
    /// Why the app adds pictures to the payer's, as its Info.plist says it. The system ends an app that adds one without that.
    @ObservationIgnored var photosPurpose = Bundle.main.object(forInfoDictionaryKey: "NSPhotoLibraryAddUsageDescription") as? String

    /// The QR code that the payer was shown, until another payment is begun or it has ended.
    @ObservationIgnored private var shownCode: String?
    /// The QR code instead of which another payment was begun. It can still be paid.
    @ObservationIgnored var leftCode: String?

    /// What the app already knew about the payer.
    @ObservationIgnored let given: CheckoutDraft
    var chosen: PaymentMethod?
    var typedPhone = ""
    var typedCode = ""
    var typedCard = CardInput()
    var violations: [CheckoutField: Violation] = [:]

    /// Whether a payment that the payer was shown may still take money: after the end of a checkout it comes late.
    private(set) var mayHavePaid = true
    private var closed: CheckoutResult?
    var isClosed: Bool { closed != nil }
    private var drawn: String?

    @ObservationIgnored let checkout: Checkout
    @ObservationIgnored private var following: Task<Void, Never>?

    @ObservationIgnored var absenceClock = AbsenceClock.system
    /// While the app is in the background: when card fields and code are forgotten.
    @ObservationIgnored private var forgetAt: Duration?
    @ObservationIgnored private var forgetting: Task<Void, Never>?

    /// Shows a checkout and begins to poll it.
    ///
    /// - Parameters:
    ///   - checkout: A checkout that nothing else acts on. It is closed with the model.
    ///   - language: The payer's language.
    ///   - draft: The saved state of the same screen, see ``draft``.
    ///   - phone: The payer's phone, if the app knows it. The payer sees it and can change it before the code is sent.
    ///   - method: The preselected method, if the checkout allows it. No payment starts automatically.
    ///   - title: The shop's name.
    ///   - appearance: How the screen looks.
    public init(
        _ checkout: Checkout, language: Language = .ofDevice, draft: CheckoutDraft = CheckoutDraft(), phone: String? = nil,
        method: PaymentMethod? = nil, title: String? = nil, appearance: CheckoutAppearance = CheckoutAppearance()
    ) {
        self.checkout = checkout
        self.language = language
        self.title = title
        self.appearance = appearance
        given = CheckoutDraft(method: method, phone: phone ?? "")
        state = checkout.state
        details = checkout.details
        chosen = draft.method
        typedPhone = draft.phone.isEmpty ? phone ?? "" : draft.phone
        follow()
        following = Task { [weak self, states = checkout.states] in
            // Takes the current state instead of the received one: an action may have changed it meanwhile.
            for await _ in states { self?.refresh() }
        }
    }

    /// Opens a checkout of the merchant's server with the client token from the shop's back end.
    ///
    /// - Parameters:
    ///   - serverURL: https, or http to a loopback address.
    ///   - clientToken: What opens this one checkout.
    ///   - language: The payer's language, also for the bank's page (3DS) if the settings name none.
    ///   - draft: The saved state of the same screen, see ``draft``.
    ///   - phone: The payer's phone, if the app knows it. The payer sees it and can change it before the code is sent.
    ///   - method: The preselected method, if the checkout allows it. No payment starts automatically.
    ///   - title: The shop's name.
    ///   - appearance: How the screen looks.
    ///   - settings: How the server is reached.
    ///   - renewToken: Gets a new client token from the shop's back end when the one before is not good any more.
    /// - Throws: `PaymentError.misconfigured` if the address or a setting cannot work, naming it.
    public convenience init(
        serverURL: String, clientToken: String, language: Language = .ofDevice, draft: CheckoutDraft = CheckoutDraft(), phone: String? = nil,
        method: PaymentMethod? = nil, title: String? = nil, appearance: CheckoutAppearance = CheckoutAppearance(),
        settings: CheckoutSettings = CheckoutSettings(), renewToken: (@Sendable () async throws -> String)? = nil
    ) throws {
        var settings = settings
        settings.language = settings.language ?? language
        let checkout = try Checkout(
            serverURL: serverURL, clientToken: clientToken, settings: settings, renewToken: renewToken)
        self.init(
            checkout, language: language, draft: draft, phone: phone, method: method, title: title, appearance: appearance)
    }

    /// Call it when the screen closes: stops polling, clears the input, and returns the result. A payment that was sent continues at the
    /// server, and a new model of the same checkout shows its state. Calling it again returns the same.
    @discardableResult
    public func close() -> CheckoutResult {
        refresh()
        let result = result
        let isFirst = closed == nil
        closed = result
        endAbsence()
        forgetSecrets()
        checkout.close()
        following?.cancel()
        if isFirst { tell(.ended(result.withoutReasons)) }
        return result
    }

    /// The result if the payer closed the screen now.
    public var result: CheckoutResult { closed ?? CheckoutResult(state, mayHavePaid: mayHavePaid) }

    /// Takes the state of now.
    func refresh() {
        guard closed == nil else { return }
        tellOpened()
        let now = checkout.state
        if details == nil { details = checkout.details }
        guard now != state else { return }
        state = now
        follow()
    }

    /// What else changes with the state.
    private func follow() {
        noteLeftCode()
        switch state {
        // So a checkout ends by itself only where nothing is on its way.
        case .notPaid(let reason) where reason.topic == .tooManyTries: mayHavePaid = leftCode != nil
        case .ready(_, _, canKeepMethod: false): mayHavePaid = leftCode != nil
        case .ready, .sending, .enterOtp, .openPage, .showQr, .waiting, .personNeeded: mayHavePaid = true
        case .opening, .paid, .notPaid, .expired, .tokenExpired: break
        }
        // What was typed for one payment must not stand there at the next.
        if state.kind != "enter_otp" { forgetCode() }
        if !methods.contains(.card) { forgetCard() }
        drawQrCode()
    }

    /// Whoever begins another payment, this payer or another device, leaves the code that was shown.
    private func noteLeftCode() {
        switch state {
        case .showQr(let text, _, _): shownCode = text
        case .sending, .enterOtp, .openPage: leftCode = shownCode ?? leftCode
        // It has ended.
        case .ready(_, _, canKeepMethod: false): shownCode = nil
        case .opening, .ready, .waiting, .paid, .notPaid, .personNeeded, .expired, .tokenExpired: break
        }
    }

    /// Draws once for each code, and not for each message that comes beside it.
    private func drawQrCode() {
        guard case .showQr(let text, _, _) = state else {
            (qrPicture, drawn, isBankAppMissing, isPictureSaved) = (nil, nil, false, nil)
            return
        }
        // The server did not take another payment instead of it.
        if text == leftCode { leftCode = nil }
        guard text != drawn else { return }
        (qrPicture, drawn, isBankAppMissing, isPictureSaved) = (try? QrCode(text).png(px: pictureSide), text, false, nil)
    }

    /// The app is in the background from now on. What was typed stays for a while: a payer who reads the card's number or the code in
    /// another app comes back to a form that is not empty.
    func beginAbsence() {
        guard forgetAt == nil, closed == nil else { return }
        let moment = absenceClock.now() + longestAbsence
        forgetAt = moment
        forgetting = Task { [weak self, sleep = absenceClock.sleep] in
            try? await sleep(moment)
            if !Task.isCancelled { self?.forgetSecrets() }
        }
    }

    /// The app is at the front again, or its screen is closed.
    func endAbsence() {
        forgetting?.cancel()
        forgetting = nil
        // The system stops apps in the background, and their tasks with them.
        if let forgetAt, absenceClock.now() >= forgetAt { forgetSecrets() }
        forgetAt = nil
    }

    /// A Swift text cannot be wiped; what can be done is to hold it no longer.
    func forgetSecrets() {
        forgetCode()
        forgetCard()
    }

    private func forgetCode() {
        typedCode = ""
        violations[.code] = nil
    }

    private func forgetCard() {
        typedCard = CardInput()
        for field in [CheckoutField.cardNumber, .cardExpiry, .cardCvc, .cardHolder] { violations[field] = nil }
    }
}

@available(iOS 17, macOS 14, *)
extension CheckoutModel: CustomStringConvertible, CustomReflectable {
    /// The class name only.
    public nonisolated var description: String { "CheckoutModel" }

    /// A mask: nothing of the content.
    public nonisolated var customMirror: Mirror { Mirror(self, children: []) }
}

/// In pixels: sharp on a phone whose points are three of them.
private let pictureSide = 800

extension Language {
    /// The first of the device's languages; English where that is none of the three.
    public static var ofDevice: Language { Language(tag: Locale.preferredLanguages.first ?? "") }
}
