internal import KassaGenerated

/// A payment card: number (PAN), expiry, CVC and the holder's name.
///
/// Only its last four digits are ever printed. The core wipes its copies of the number and the CVC; the strings that you created it from
/// are Swift's. Nothing is checked here; the request with the card reports all violations at once.
///
/// **Handling card numbers puts the merchant under PCI DSS.** To avoid that, use ``Gateway/createPayForm(_:)``: the payer then enters the
/// card on the gateway's own page.
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
    ///   - pan: The full number, 13 to 20 digits; spaces and hyphens are removed before sending.
    ///   - expiryMonth: Two digits, `"01"` to `"12"`.
    ///   - expiryYear: Four digits, such as 2031.
    ///   - cvc: Three characters.
    ///   - holderName: First name, then last name.
    public init(pan: String, expiryMonth: String, expiryYear: Int, cvc: String, holderName: String) {
        core = KassaGenerated.Card(
            pan: pan, expiryMonth: expiryMonth, expiryYear: Int32(clamping: expiryYear), cvc: cvc, holderName: holderName)
    }

    /// The masked number with its last four digits, for receipts and logs; only the mask if the number is invalid.
    public var maskedNumber: String { core.maskedNumber() }
}

extension Card: CustomStringConvertible, CustomReflectable {
    /// The masked number.
    public var description: String { "Card(\(maskedNumber))" }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
