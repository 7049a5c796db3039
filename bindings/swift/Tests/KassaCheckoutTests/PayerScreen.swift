import Kassa
import KassaCheckout
import KassaStage
import Observation

/// A payer before their screen: a scene of the stage, and the model of the screen, which is watched as a view watches it.
@MainActor final class PayerScreen {
    let scene: Stage.Scene
    private(set) var model: CheckoutModel
    /// What the app was told.
    private(set) var events: [CheckoutEvent] = []

    /// Opens a checkout, and waits until the payer can choose.
    static func ready(_ stage: Stage, _ plan: JSON = [:], given: CheckoutDraft = CheckoutDraft()) async throws -> PayerScreen {
        let screen = try PayerScreen(await stage.open(plan), given: given)
        try await screen.until("ready")
        return screen
    }

    /// What the app knows of the payer beforehand is `given`.
    init(
        _ scene: Stage.Scene, token: String? = nil, given: CheckoutDraft = CheckoutDraft(),
        renewToken: (@Sendable () async throws -> String)? = nil
    ) throws {
        self.scene = scene
        model = try Self.model(scene, token, given, renewToken)
        model.onEvent = { @MainActor @Sendable [weak self] event in self?.events.append(event) }
    }

    private static func model(
        _ scene: Stage.Scene, _ token: String?, _ given: CheckoutDraft, _ renewToken: (@Sendable () async throws -> String)?
    ) throws -> CheckoutModel {
        try CheckoutModel(
            serverURL: scene.serverURL, clientToken: token ?? scene.clientToken, language: .english, phone: given.phone,
            method: given.method, renewToken: renewToken)
    }

    /// As after the app was killed.
    func openAgain() throws {
        model = try Self.model(scene, nil, CheckoutDraft(), nil)
    }

    /// Waits until the model shows a state of this kind.
    func until(_ kind: String) async throws {
        try await until("a state \(kind)") { $0.state.kind == kind }
    }

    /// Waits until the model is as is wanted, which a view would see.
    func until(_ wanted: String, _ isThere: (CheckoutModel) -> Bool) async throws {
        try await model.until(wanted, isThere)
    }

    /// The money as the gateway knows it, a payment each.
    var charged: [Bool] {
        get async throws { (try await scene.step("ledger").array ?? []).map { $0["is_charged"] == .bool(true) } }
    }

    /// Pays by the mobile bank, up to the code.
    func askForCode(phone: String = "0555 000 101") async throws {
        model.choose(.mbank)
        model.phone = phone
        model.pay()
        try await until("enter_otp")
    }

    /// Types a card that asks for a page (3DS).
    func typeCard(_ number: String = "4111 1111 1111 1111") {
        model.choose(.card)
        model.cardNumber = number
        model.cardExpiry = "831"
        model.cardCvc = "737"
        model.cardHolder = "Aibek Usenov"
    }

    /// What stands in the fields that nobody but the payer may keep.
    var secrets: [String] { [model.code, model.cardNumber, model.cardExpiry, model.cardCvc, model.cardHolder] }
}

extension CheckoutModel {
    /// Waits until it is as is wanted, which a view would see.
    func until(_ wanted: String, _ isThere: (CheckoutModel) -> Bool) async throws {
        let limit = ContinuousClock.now + .seconds(patience)
        while true {
            let (changes, change) = AsyncStream.makeStream(of: Void.self)
            if withObservationTracking({ isThere(self) }, onChange: { change.finish() }) { return }
            guard ContinuousClock.now < limit else { throw Problem("no \(wanted), but \(state)") }
            let clock = Task {
                try await Task.sleep(until: limit)
                change.finish()
            }
            for await _ in changes {}
            clock.cancel()
        }
    }
}

/// No card and no code stands anywhere.
let nothing = ["", "", "", "", ""]

/// A scene whose server takes cards.
let withCards: JSON = ["cards": .bool(true), "checkout": ["methods": ["pay_form", "card"]]]
