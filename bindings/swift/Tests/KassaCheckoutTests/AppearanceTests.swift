@testable import KassaCheckout
import Testing

@Suite struct AppearanceTests {
    private let white = CheckoutColour(0xFFFFFF)
    private let black = CheckoutColour(0)

    @Test func wordsOnTheAccentColourCanBeRead() {
        let cases: [(UInt32, CheckoutColour)] = [
            (0xFFFFFF, black), (0x000000, white), (0xF2A900, black), (0x1F4F8F, white), (0x176639, white), (0xFF9D94, black), (0x777777, black),
            (0x707070, white),
        ]
        for (accent, readable) in cases {
            #expect(CheckoutAppearance(accentColour: CheckoutColour(accent)).readableOnAccent == readable, "\(String(accent, radix: 16))")
        }
        let honey = CheckoutColour(0xF2A900)
        #expect(CheckoutAppearance(accentColour: black, onAccentColour: honey).readableOnAccent == honey)
        #expect(CheckoutAppearance(accentColour: white, onAccentColour: honey).readableOnAccent == black)  // nobody could read it
        #expect(CheckoutAppearance().readableOnAccent == nil)  // the system knows
    }

    @Test func cornersAreThoseOfAButton() {
        let cases: [(Double?, Double?)] = [(nil, nil), (12, 12), (-1, 0), (100, 32), (.infinity, 32), (.nan, nil)]
        for (given, shown) in cases {
            #expect(CheckoutAppearance(cornerRadius: given).shownCornerRadius == shown)
        }
    }

    @Test func colourIsMadeOfWhatItsComponentsCanBe() {
        #expect(CheckoutColour(red: 2, green: -1, blue: .nan) == CheckoutColour(0xFF0000))
        #expect(CheckoutColour(0x12FF8000) == CheckoutColour(red: 1, green: 128 / 255, blue: 0))
    }
}
