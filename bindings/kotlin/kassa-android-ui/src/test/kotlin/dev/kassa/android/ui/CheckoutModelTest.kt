package dev.kassa.android.ui

import android.os.Looper
import androidx.lifecycle.SavedStateHandle
import dev.kassa.BankLink
import dev.kassa.Checkout
import dev.kassa.CheckoutTexts
import dev.kassa.Language
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.KassaCheckout.Result
import dev.kassa.android.ui.support.ELQR_CODE
import dev.kassa.android.ui.support.PAGE
import dev.kassa.android.ui.support.QR_TEXT
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf

/** A payment screen of one's own, which has the model and not the sheet. */
@RunWith(RobolectricTestRunner::class)
class CheckoutModelTest : StandInTest() {
    private val models = mutableListOf<CheckoutModel>()

    @After
    fun closeModels() = models.forEach(CheckoutModel::close)

    @Test
    fun `it pays by the mobile bank, and says what is wrong before anything is sent`() {
        val before = sent.size
        val model = model(Scene.READY)
        model.awaitKind("ready")
        assertEquals(listOf("390\u00a0som", "Pay 390\u00a0som"), listOf(model.amountText, model.payText))
        model.pay()
        assertNull("nothing is chosen", model.method)
        model.choose(PaymentMethod.MBANK)
        model.phone = "0555"
        assertEquals(model.labels.phoneExample, model.phoneHint)
        model.pay()
        assertEquals(model.labels.phoneWrong, model.errorOf(CheckoutField.PHONE))
        model.phone = "0555 123 498"
        assertNull(model.errorOf(CheckoutField.PHONE))
        assertEquals("The code goes to +996\u00a0555\u00a0123\u00a0498", model.phoneHint)
        model.pay()
        await("the payment") { sent.drop(before).any { "996555123498" in it } }
        assertEquals(1, sent.drop(before).size)
    }

    @Test
    fun `code that is too short uses up no try, and the payer can choose again and go back`() {
        val model = model(Scene.ENTER_OTP)
        model.awaitKind("enter_otp")
        model.code = " 1 2 "
        assertEquals("12", model.code)
        model.confirm()
        assertEquals(model.labels.codeShort, model.errorOf(CheckoutField.CODE))
        model.code = "123"
        assertNull(model.errorOf(CheckoutField.CODE))
        assertEquals(model.labels.otherNumber, model.changeMethodText)
        assertTrue(model.canChangeMethod)
        model.changeMethod()
        assertEquals("at once", "ready", model.state.kind)
        assertEquals("what was typed for the code is gone", "", model.code)
        assertTrue(model.canKeepMethod)
        assertEquals(Result.StillOpen, model.result)
        model.keepMethod()
        model.awaitKind("enter_otp")
    }

    @Test
    fun `pages and QR codes are told, in the language of now`() {
        val code = model(Scene.SHOW_QR)
        code.awaitKind("show_qr")
        assertEquals(QR_TEXT, code.qrLink)
        assertEquals("it is no ELQR", emptyList<BankLink>(), code.bankLinks)
        assertNotNull(code.qrCode)
        assertEquals(code.labels.otherThanCodeHint, code.changeMethodHint)
        val page = model(Scene.OPEN_PAGE)
        page.awaitKind("open_page")
        assertEquals(PAGE, page.page)
        assertNull("it was begun elsewhere", page.pageToOpen)
        assertTrue(page.canCheckNow)
        assertEquals(listOf(page.labels.havePaid, page.labels.openPage), listOf(page.checkNowText, page.openPageText))
        assertEquals(page.labels.close, page.closeText)
        val waiting = model(Scene.WAITING)
        waiting.awaitKind("waiting")
        assertEquals(listOf(waiting.labels.checkNow, waiting.labels.openPageAgain), listOf(waiting.checkNowText, waiting.openPageText))
        val paid = model(Scene.PAID)
        paid.awaitKind("paid")
        assertEquals(paid.labels.done, paid.closeText)
        page.language = Language.KYRGYZ
        assertEquals(CheckoutTexts.of(page.state, page.mayHavePaid, Language.KYRGYZ), page.texts)
        assertEquals("Жабуу", page.labels.close)
    }

    @Test
    fun `code in ELQR opens in the app of each bank, and only https is opened`() {
        val model = model(Scene.SHOW_ELQR)
        model.awaitKind("show_qr")
        val links = model.bankLinks.associate { it.bank to "${it.url}" }
        assertEquals(listOf("ELQR", "MBank"), links.keys.take(2))
        assertEquals(listOf("https://pay.payqr.kg/#$ELQR_CODE", "https://app.mbank.kg/qr/#$ELQR_CODE"), links.values.take(2))
        assertTrue(links.values.all { it.startsWith("https://") && it.endsWith("#$ELQR_CODE") })
        assertEquals("each by its name", model.bankLinks.size, links.size)
        assertEquals("the code alone has them, too", model.bankLinks, bankLinksOf(ELQR_CODE))
        for ((text, why) in NO_LINKS) assertEquals(why, emptyList<BankLink>(), bankLinksOf(text))
        assertTrue(isLink("HTTPS://PAY.PAYQR.KG/"))
        for (text in listOf("http://bank.example.kg/1", "HTTP://BANK.EXAMPLE.KG/1", "javascript:1", "mbank://pay")) assertFalse(text, isLink(text))
    }

    @Test
    fun `card is saved nowhere, and closing forgets it and keeps the result`() {
        val saved = SavedStateHandle()
        val model = model(Scene.READY, saved)
        model.awaitKind("ready")
        model.choose(PaymentMethod.CARD)
        model.cardNumber = "4111111111111112"
        model.cardHolder = "AIBEK ASANOV"
        assertEquals("4111 1111 1111 1112", model.cardNumber)
        assertNotNull("a digit is wrong", model.errorOf(CheckoutField.CARD_NUMBER))
        assertFalse(saved.keys().map { saved.get<Any>(it).toString() }.any { "4111" in it || "AIBEK" in it })
        model.close()
        assertEquals(listOf("", ""), listOf(model.cardNumber, model.cardHolder))
        model.cardNumber = "4111111111111111"
        assertEquals("it takes nothing any more", "", model.cardNumber)
        assertEquals(Result.NotPaid, model.result)
        model.pay()
    }

    @Test
    fun `token that has expired does not use up the way that was chosen in the shop`() {
        val model = model(Scene.TOKEN_EXPIRED, method = PaymentMethod.MBANK)
        model.awaitKind("token_expired")
        model.renewToken(Scene.READY.token)
        model.awaitKind("ready")
        assertEquals(PaymentMethod.MBANK, model.method)
    }

    private fun model(scene: Scene, saved: SavedStateHandle = SavedStateHandle(), method: PaymentMethod? = null): CheckoutModel {
        val request = request(scene)
        val checkout = Checkout.open(request.serverUrl, request.clientToken)
        return CheckoutModel(checkout, Language.ENGLISH, saved, method = method).also { models += it }
    }

    private fun CheckoutModel.awaitKind(kind: String) = await("the state $kind") {
        shadowOf(Looper.getMainLooper()).idle()
        state.kind == kind
    }

    private companion object {
        private val NO_LINKS = mapOf(
            ELQR_CODE.replace("TX17", "TX18") to "a link would have a right checksum",
            "00020101021232480013qr.example.kg0102021104TX171202121302122001x5204581253034175405390005910HONEY SHOP6304ffc2" to
                "a link would leave out the element that is not known",
            PAGE to "it is no ELQR",
            "" to "it is nothing",
        )
    }
}
