internal import KassaGenerated

/// A payment card: number (PAN), expiry, CVC and the holder's name.
///
/// It is never printed beyond its last four digits. The core wipes its copies of the number and the CVC when they are dropped; the
/// texts that you made it from are Swift's. Nothing is checked here; the request that carries the card reports every violation at
/// once.
///
/// **Handling card numbers puts the merchant under PCI DSS.** A merchant who does not want that uses ``Gateway/createPayForm(_:)``:
/// the payer then enters the card on the gateway's own page.
///
/// ```swift
/// let card = Card(pan: "4111 1111 1111 1111", expiryMonth: "08", expiryYear: 2031, cvc: "123", holderName: "Aibek Usenov")
/// print(card)  // Card(**** 1111)
/// ```
public struct Card: Sendable {
    let core: KassaGenerated.Card

    init(core: KassaGenerated.Card) {
        self.core = core
    }

    /// A card as the payer types it.
    ///
    /// - Parameters:
    ///   - pan: The full number, 13 to 20 digits; spaces and hyphens between the digits are left out when it is sent.
    ///   - expiryMonth: Two digits, `"01"` to `"12"`.
    ///   - expiryYear: Four digits, such as 2031.
    ///   - cvc: Three characters.
    ///   - holderName: First name, then last name.
    public init(pan: String, expiryMonth: String, expiryYear: Int, cvc: String, holderName: String) {
        core = KassaGenerated.Card(
            pan: pan, expiryMonth: expiryMonth, expiryYear: Int32(clamping: expiryYear), cvc: cvc, holderName: holderName)
    }

    /// The last four digits behind a mask, for receipts and logs; only the mask where there is no valid number.
    public var maskedNumber: String { core.maskedNumber() }
}

extension Card: CustomStringConvertible, CustomReflectable {
    /// The masked number.
    public var description: String { "Card(\(maskedNumber))" }

    /// Nothing of what is inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
