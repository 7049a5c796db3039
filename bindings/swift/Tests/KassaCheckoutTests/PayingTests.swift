import Foundation
import Kassa
@testable import KassaCheckout
import KassaStage
import Testing

/// Every way to pay, against the server with a sandbox behind it.
@MainActor @Suite struct PayingTests {
    @Test func wrongCodeIsToldAndTheRightOnePays() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        #expect(model.methods == [.payForm, .qr, .mbank] && model.method == nil)
        #expect(model.amountText == "390\u{a0}som" && model.payText == "Pay 390\u{a0}som")
        model.choose(.mbank)
        model.phone = "0555000101"
        #expect(model.phoneHint == "The code goes to +996\u{a0}555\u{a0}000\u{a0}101")
        model.pay()
        #expect(model.state.kind == "sending" && model.methods == [])  // a second tap finds nothing to begin
        model.pay()
        try await screen.until("enter_otp")
        #expect(model.texts.explanation?.hasSuffix("Attempts left: 3") == true)
        model.code = " 000 000\n"
        #expect(model.code == "000000")
        model.confirm()
        #expect(model.code == "")
        try await screen.until("word of the wrong code") { $0.texts.message == "This code was not accepted. Enter it again." }
        #expect(model.result == .stillOpen && model.texts.explanation?.hasSuffix("Attempts left: 2") == true)
        model.code = "101101"
        model.confirm()
        try await screen.until("paid")
        #expect(model.result == .paid(amount: 390, currency: "KGS") && model.close().isPaid)
        #expect(try await screen.charged == [true])
    }

    @Test func codeIsScanned() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        screen.model.choose(.qr)
        screen.model.pay()
        try await screen.until("a picture") { $0.qrPicture != nil }
        let picture = try #require(screen.model.qrPicture)
        #expect(picture.starts(with: [0x89] + Data("PNG".utf8)) && screen.model.state.kind == "show_qr")
        // So many pixels wide, by the picture's header.
        #expect(picture[16..<20].elementsEqual([0, 0, 3, 32]))
        _ = try await screen.scene.step("approve")
        try await screen.until("paid")
        #expect(screen.model.qrPicture == nil && screen.model.close().isPaid)
    }

    @Test func itsPictureIsSavedWhereTheAppMay() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        model.photosPurpose = "To save the code that you pay by"
        model.pictureSaved(true)
        #expect(!model.canSavePicture && model.pictureNotice == nil)  // there is none
        model.choose(.qr)
        model.pay()
        try await screen.until("a picture") { $0.qrPicture != nil }
        #expect(model.canSavePicture)
        for purpose in [nil, "", " \n"] {
            model.photosPurpose = purpose  // the system ends an app without one
            #expect(!model.canSavePicture)
        }
        for language in Language.allCases {
            model.language = language
            model.pictureSaved(false)
            #expect(model.pictureNotice == CheckoutLabels.of(language).pictureNotSaved)
            model.pictureSaved(true)
            #expect(model.pictureNotice == CheckoutLabels.of(language).pictureSaved)
        }
        model.changeMethod()
        model.keepMethod()
        #expect(model.qrPicture != nil && model.pictureNotice == nil)
    }

    @Test func pageOpensOnceByItself() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        model.choose(.payForm)
        model.pay()
        try await screen.until("a page to open") { $0.pageToOpen != nil }
        let page = try #require(model.pageToOpen)
        #expect(model.returnScheme == "shop" && model.page == page)
        model.pageOpened()
        #expect(model.pageToOpen == nil && model.page == page)
        #expect(model.canCheckNow && model.checkNowText == "Check the payment" && model.openPageText == "To the bank's page")
        model.checkNow()  // there is a page, so the payer is back from it
        #expect(model.state.kind == "waiting" && model.page == page && model.pageToOpen == nil)
        #expect(model.checkNowText == "Check now" && model.openPageText == "To the bank's page again" && model.closeText == "Close")
        #expect(model.close() == .stillOpen)
        try screen.openAgain()
        try await screen.until("open_page")
        #expect(screen.model.pageToOpen == nil && screen.model.page == page)  // another beginning: by a button
        _ = try await screen.scene.step("approve")
        screen.model.cameBack()
        try await screen.until("paid")
        #expect(screen.model.closeText == "Done")
    }

    @Test func cardIsConfirmedOnThePageOfItsBank() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage, withCards)
        let model = screen.model
        screen.typeCard()
        #expect(model.cardNumber == "4111 1111 1111 1111" && model.cardExpiry == "08/31" && model.cardBrand == .visa)
        model.pay()
        #expect(screen.secrets == nothing && model.cardBrand == .unknown)
        try await screen.until("a page to open") { $0.pageToOpen != nil }
        _ = try await screen.scene.step("approve")
        model.cameBack()
        try await screen.until("paid")
        #expect(try await screen.charged == [true])
    }

    @Test func afterARefusalAnotherWayIsTaken() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        try await screen.askForCode(phone: "996555000102")
        model.code = "102102"
        model.confirm()
        try await screen.until("ready")
        #expect(model.texts.message == "The payment was declined. No money was taken.")
        #expect(model.method == .mbank && model.phone == "996555000102")
        guard case .notPaid(let message) = model.result else { throw Problem("\(model.result)") }
        #expect(message?.topic == .rejected)
        model.choose(.mbank)  // again
        model.choose(.qr)
        #expect(screen.events == [.opened, .methodChosen(.mbank), .methodChosen(.mbank), .methodChosen(.qr)])
        model.pay()
        try await screen.until("show_qr")
        _ = try await screen.scene.step("approve")
        try await screen.until("paid")
        #expect(try await screen.charged == [false, true])
    }

    @Test func mistypedNumberIsLeftForTheRightOne() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        #expect(!model.canChangeMethod && !model.canKeepMethod)
        try await screen.askForCode(phone: "996555000102")
        #expect(model.texts.explanation?.contains("ends in 02.") == true && model.canChangeMethod)
        #expect(model.changeMethodText == "Another number, or another way to pay" && model.changeMethodHint == model.labels.otherNumberHint)
        model.code = "102"
        model.changeMethod()
        #expect(model.state.kind == "ready" && model.canKeepMethod && !model.canChangeMethod)
        #expect(model.method == .mbank && model.phone == "996555000102" && model.code == "")
        // The payment is open all the while.
        #expect(model.result == .stillOpen && model.texts.explanation?.contains("only if you have not paid yet") == true)
        model.keepMethod()
        #expect(model.state.kind == "enter_otp" && !model.canKeepMethod)
        model.changeMethod()
        model.phone = "0555 000 10"
        model.pay()
        #expect(model.error(of: .phone) != nil && model.canKeepMethod)  // nothing is replaced by what is none
        model.phone = "0555 000 101"
        model.pay()
        try await screen.until("the other number") { $0.texts.explanation?.contains("ends in 01.") == true }
        model.code = "101101"
        model.confirm()
        try await screen.until("paid")
        #expect(try await screen.charged == [false, true])
    }

    @Test func codeInELQROpensInTheAppOfEachBank() {
        let code = "00020101021232430013qr.example.kg0102021104TX171202121302125204581253034175405390005910HONEY%20SHOP630463e7"
        for text in [code, "https://app.mbank.kg/qr/#" + code] {
            let links = CheckoutModel.bankLinks(of: text)
            #expect(links.prefix(2).map(\.bank) == ["ELQR", "MBank"])
            #expect(links.prefix(2).map(\.url.absoluteString) == ["https://pay.payqr.kg/#" + code, "https://app.mbank.kg/qr/#" + code])
            #expect(links.allSatisfy { $0.url.scheme == "https" && $0.url.absoluteString.hasSuffix("#" + code) })
            #expect(Set(links.map(\.bank)).count == links.count)
        }
        // Damaged; with an element that is not known, which a link would leave out; no ELQR.
        let unknown = "00020101021232480013qr.example.kg0102021104TX171202121302122001x5204581253034175405390005910HONEY SHOP6304ffc2"
        for text in [code.replacingOccurrences(of: "TX17", with: "TX18"), unknown, "https://qr.bank.example.kg/1", ""] {
            #expect(CheckoutModel.bankLinks(of: text).isEmpty, "\(text)")
        }
    }

    @Test func codeThatNoAppReadsIsLeftForAnotherWay() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage, given: CheckoutDraft(method: .mbank))
        let model = screen.model
        model.choose(.qr)
        model.pay()
        try await screen.until("show_qr")
        #expect(model.bankAppNotice == nil)
        model.bankAppOpened(false)
        for language in Language.allCases {
            model.language = language
            #expect(model.bankAppNotice == model.labels.noBankApp)
        }
        model.language = .english
        model.bankAppOpened(true)
        #expect(model.bankAppNotice == nil)
        model.bankAppOpened(false)
        #expect(model.canChangeMethod && model.changeMethodText == "Pay another way")
        #expect(model.changeMethodHint == "Only if you have not paid by this code: otherwise you pay twice.")
        model.changeMethod()
        #expect(model.canKeepMethod && model.qrPicture == nil && model.bankAppNotice == nil && !model.methods.contains(.qr))
        model.keepMethod()
        #expect(model.qrPicture != nil && model.bankAppNotice == nil)
        model.changeMethod()
        try await screen.askForCode(phone: "996555000102")
        model.code = "102102"
        model.confirm()
        try await screen.until("ready")
        // The code that was left can still be paid, so nobody is told that nothing is on its way.
        #expect(model.result == .stillOpen && model.texts.explanation?.contains("paid by the QR code") == true)
        model.chosen = nil  // as where another device has done all that
        #expect(model.methods.contains(.mbank) && model.method == nil)  // so that no tap begins the way that the app gave
        #expect(model.close() == .stillOpen)
    }

    @Test func whatTheAppKnowsOfThePayerStandsThere() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let given = CheckoutDraft(method: .mbank, phone: "0555 000 101")
        let screen = try await PayerScreen.ready(stage, given: given)
        let model = screen.model
        #expect(model.method == .mbank && model.phone == "0555 000 101")
        #expect(try await screen.charged == [])  // nothing is begun by itself
        // What a scene has kept may be of an earlier payer.
        model.restore(CheckoutDraft(method: .qr, phone: "0700 000 000"))
        #expect(model.method == .mbank && model.phone == "0555 000 101")
        model.choose(.mbank)
        model.pay()
        try await screen.until("enter_otp")
        #expect(model.texts.explanation?.contains("ends in 01.") == true)

        let typed = try await PayerScreen.ready(stage, given: given)
        typed.model.phone = "0555 000 102"
        typed.model.restore(CheckoutDraft(method: .qr))
        #expect(typed.model.method == .mbank && typed.model.phone == "0555 000 102")
        let other = try await PayerScreen.ready(stage, withCards, given: given)
        #expect(other.model.method == nil)  // it is not offered
    }

    /// A tap must not begin a second payment by a way that the payer has not chosen.
    @Test func givenWayIsNotChosenBesideAnOpenPayment() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage, given: CheckoutDraft(method: .mbank))
        screen.model.choose(.payForm)
        screen.model.pay()
        try await screen.until("open_page")
        let again = try PayerScreen(screen.scene, given: CheckoutDraft(method: .mbank))
        try await again.until("open_page")
        #expect(again.model.methods.contains(.mbank) && again.model.method == nil)
    }

    @Test func appIsToldWhatHappensAndNothingPersonal() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen(stage.open([:]))
        let model = screen.model
        try await screen.until("ready")
        model.choose(.card)  // is not offered
        model.choose(.qr)
        model.choose(.payForm)
        model.choose(.payForm)
        model.pay()
        try await screen.until("a page to open") { $0.pageToOpen != nil }
        model.pageOpened()
        _ = try await screen.scene.step("approve")
        model.cameBack()
        try await screen.until("paid")
        model.pageOpened()  // there is none any more
        model.close()
        model.close()
        model.choose(.qr)
        #expect(
            screen.events == [
                .opened, .methodChosen(.qr), .methodChosen(.payForm), .pageOpened, .ended(.paid(amount: 390, currency: "KGS")),
            ])

        // Whoever listens late is told that it was opened; a page that could not be opened is not told.
        let late = try await PayerScreen(stage.open([:]))
        let onEvent = late.model.onEvent
        late.model.onEvent = nil
        try await late.until("ready")
        late.model.onEvent = onEvent
        late.model.choose(.payForm)
        late.model.pay()
        try await late.until("a page to open") { $0.pageToOpen != nil }
        late.model.pageOpened(isAway: false)
        #expect(late.model.pageToOpen == nil && late.model.page != nil)
        #expect(late.events == [.opened, .methodChosen(.payForm)])

        let only = try await PayerScreen(stage.open(["checkout": ["methods": ["qr"]]]))
        try await only.until("ready")
        only.model.pay()
        try await only.until("show_qr")
        only.model.close()
        #expect(only.events == [.opened, .ended(.stillOpen)])  // nobody chose
        #expect(screen.events.map(\.name) == ["opened", "method_chosen", "method_chosen", "page_opened", "ended"])
    }

    @Test func onlyWayNeedsNoChoice() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage, ["checkout": ["methods": ["qr"]]])
        #expect(screen.model.method == .qr)
        screen.model.pay()
        try await screen.until("show_qr")
    }
}
