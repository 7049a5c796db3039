package dev.kassa

import com.sun.jna.Library
import com.sun.jna.Native
import dev.kassa.support.card
import dev.kassa.support.cardPayment
import dev.kassa.support.withGateway
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource
import java.math.BigDecimal
import java.net.URI
import java.time.Instant
import java.time.LocalDateTime
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import dev.kassa.internal.AdviceTopic as CoreAdviceTopic
import dev.kassa.internal.DeclineReason as CoreDeclineReason
import dev.kassa.internal.ElqrKind as CoreElqrKind
import dev.kassa.internal.LogLevel as CoreLogLevel
import dev.kassa.internal.MessageTopic as CoreMessageTopic
import dev.kassa.internal.PaymentMethod as CorePaymentMethod
import dev.kassa.internal.QrLevel as CoreQrLevel
import dev.kassa.internal.Rule as CoreRule
import dev.kassa.internal.StatusQueryForm as CoreStatusQueryForm

/** What conversions could get wrong, and what Kotlin's own data classes would. */
class ValuesTest {
    @Test
    fun `amounts are compared by value and keep their digits`() {
        val card = card()
        fun payment(amount: String) = cardPayment(card, "o-1").copy(amount = BigDecimal(amount))
        assertEquals(payment("100.10"), payment("100.1"))
        assertEquals(payment("100.10").hashCode(), payment("100.1").hashCode())
        assertNotEquals(payment("100.10"), payment("100.11"))
        assertNotEquals(payment("100.10"), payment("100.10").copy(ip = "203.0.113.8"))
        assertTrue("100.10" in payment("100.10").toString())

        fun report(amount: String?) = StatusReport(PaymentStatus.Charged, amount = amount?.let(::BigDecimal))
        assertEquals(report("0.00"), report("0"))
        assertNotEquals(report(null), report("0"))

        fun paid(amount: String) = CheckoutState.Paid(BigDecimal(amount), "KGS")
        assertEquals(paid("390.50"), paid("390.5"))
        assertEquals(paid("390.50").hashCode(), paid("390.5").hashCode())
        assertNotEquals(paid("390.5"), paid("390.5").copy(currency = "USD"))

        fun ref(amount: String) = PaymentRef.card("o-1", BigDecimal(amount), "KGS")
        assertEquals(ref("5.0"), ref("5"))
        assertEquals(ref("5.0").hashCode(), ref("5").hashCode())
        assertTrue("amount=5.0&" in "${ref("5.0")}")
    }

    @Test
    fun `equal value has every property in its equality`() {
        // Each is unlike the others in one property only.
        val callback = Callback.parse(CALLBACK)
        val others = listOf(
            callback.copy(orderNumber = "x"), callback.copy(amount = BigDecimal(7)), callback.copy(currency = "x"),
            callback.copy(status = PaymentStatus.Rejected), callback.copy(dateCreated = null),
            callback.copy(dateCreatedText = "x"), callback.copy(requisite = "x"), callback.copy(provider = Provider.MBank),
            callback.copy(missing = listOf("x")), callback.copy(raw = "x"), callback,
        )
        assertEquals(others.size, others.toSet().size)
        val report = StatusReport(PaymentStatus.Charged)
        val reports = listOf(
            report, report.copy(status = PaymentStatus.Rejected), report.copy(code = "x"), report.copy(reason = "x"),
            report.copy(orderNumber = "x"), report.copy(amount = BigDecimal.ONE), report.copy(currency = "x"),
            report.copy(raw = "x"),
        )
        assertEquals(reports.size, reports.toSet().size)
        val ref = PaymentRef(PaymentKind.CARD)
        val refs = listOf(
            ref, ref.copy(kind = PaymentKind.QR), ref.copy(orderNumber = "x"), ref.copy(gatewayNumber = "x"),
            ref.copy(provider = Provider.MBank), ref.copy(transactionId = "x"), ref.copy(confirmIdentifier = "1"),
            ref.copy(amount = BigDecimal.ONE), ref.copy(currency = "x"), ref.copy(isClaimed = true),
            ref.copy(entryId = "x"), ref.copy(transactionFromCode = true),
        )
        assertEquals(refs.size, refs.toSet().size)
        val details = CheckoutDetails("o-1", BigDecimal("1.50"), "KGS", "Tea", listOf(PaymentMethod.QR), "shop://paid", Instant.EPOCH)
        val allDetails = listOf(
            details, details.copy(reference = "x"), details.copy(amount = BigDecimal.ONE), details.copy(currency = "x"),
            details.copy(description = "x"), details.copy(methods = emptyList()), details.copy(returnUrl = "x"),
            details.copy(expiresAt = Instant.MAX), details.copy(amount = BigDecimal("1.5")),
        )
        assertEquals(allDetails.size - 1, allDetails.toSet().size)
        val request = MegapayPayment("o-1", BigDecimal("250.50"), "996700000001", "17")
        val requests = listOf(
            request, request.copy(orderNumber = "x"), request.copy(amount = BigDecimal.ONE), request.copy(phone = "x"),
            request.copy(account = "x"), request.copy(callbackUrl = "x"), request.copy(amount = BigDecimal("250.5")),
        )
        assertEquals(requests.size - 1, requests.toSet().size)
        val checked = MegapayChecked(ref, BigDecimal("5.00"), BigDecimal("255.50"), 3.minutes)
        val answers = listOf(
            checked, checked.copy(payment = ref.copy(isClaimed = true)), checked.copy(commission = null), checked.copy(total = null),
            checked.copy(pinLifetime = null), checked.copy(code = "x"), checked.copy(reason = "x"), checked.copy(raw = "x"),
            checked.copy(commission = BigDecimal(5), total = BigDecimal("255.5")),
        )
        assertEquals(answers.size - 1, answers.toSet().size)
        val enter = CheckoutState.EnterOtp(PaymentMethod.MEGAPAY, 3, commission = BigDecimal("5.00"), total = BigDecimal("255.50"))
        val states = listOf(
            enter, enter.copy(method = PaymentMethod.MBANK), enter.copy(attemptsLeft = 2), enter.copy(phoneLast2 = "01"),
            enter.copy(message = CheckoutMessage(MessageTopic.CODE_REFUSED)), enter.copy(commission = null), enter.copy(total = null),
            enter.copy(codeExpiresAt = Instant.EPOCH), enter.copy(canChangeMethod = true),
            enter.copy(commission = BigDecimal(5), total = BigDecimal("255.5")),
        )
        assertEquals(states.size - 1, states.toSet().size)
        val entry = PaymentEntry(ref)
        val entries = listOf(entry, entry.copy(payment = ref.copy(isClaimed = true)), entry.copy(pageUrl = "x"), entry.copy(qrText = "x"))
        assertEquals(entries.size, entries.toSet().size)
    }

    @Test
    fun `answer's entry holds what the payer was shown`() {
        val ref = PaymentRef.card("o-1", BigDecimal("5.00"), "KGS")
        val page = "https://pay.kg/3ds?token=1"
        fun entryOfCard(next: NextStep) = CardPaymentCreated(ref, next, "110", null, null, "{}").entry()
        assertEquals(PaymentEntry(ref, pageUrl = page), entryOfCard(NextStep.OpenConfirmation(URI(page))))
        assertEquals(PaymentEntry(ref), entryOfCard(NextStep.CheckStatus("Success")))
        assertEquals(PaymentEntry(ref), MbankPaymentCreated(ref, null, null, null, "{}").entry())
        assertEquals(PaymentEntry(ref), MegapayChecked(ref).entry())
        assertEquals(PaymentEntry(ref, pageUrl = page), PayFormCreated(ref, URI(page), "{}").entry())
        assertEquals(PaymentEntry(ref, qrText = "0002"), QrData("0002", "t-1", ref, "{}").entry())
        assertEquals(PaymentEntry(ref), QrData(null, null, ref, "{}").entry())
    }

    @Test
    fun `callback keeps its time to the nanosecond`() {
        val callback = Callback.parse(CALLBACK)
        assertEquals(LocalDateTime.of(2026, 11, 20, 9, 5, 7, 123_456_789), callback.dateCreated)
        assertEquals(callback.dedupKey(), callback.copy().dedupKey())
        assertTrue("123456789" in callback.dedupKey()!!)
        assertEquals(callback, Callback.parse(CALLBACK.encodeToByteArray()))
        val claimed = PaymentRef(PaymentKind.CARD, "o-1", provider = Provider.Cards, isClaimed = true)
        assertEquals(claimed, callback.paymentRef())
    }

    @Test
    fun `callback needs an order number and no more`() {
        val callback = Callback.parse("OrderNumber=order-1&amount=100,10")
        assertEquals("order-1", callback.orderNumber)
        assertEquals(BigDecimal("100.10"), callback.amount)
        assertEquals(listOf("status", "dateCreated", "provider"), callback.missing)
        assertNull(callback.dedupKey())
    }

    @Test
    fun `bytes that are no text are refused as such`() {
        val error = assertThrows<PaymentException.Invalid> { Callback.parse(byteArrayOf(0x7b, -1)) }
        assertEquals("callback is not UTF-8", error.violations.single().text)
    }

    @Test
    fun `half a surrogate pair is named, not shown and not sent`() = withGateway { gateway, server ->
        val half = "secret \uD83D!"
        val form = PayForm(BigDecimal(9), half, "https://s.kg/c", "https://s.kg/r")
        val calls = listOf<Pair<String, () -> Any>>(
            "pan" to { card(pan = half) },
            "cvc" to { card(cvc = half) },
            "password" to { Credentials("shop", half) },
            "otp" to { runBlocking { gateway.confirmMbankPayment(PaymentRef.mbank("o-1", 250), half) } },
            "user" to { runBlocking { gateway.checkMegapay(MegapayPayment("o-1", BigDecimal(250), half, "17")) } },
            "pinCode" to { runBlocking { gateway.payByMegapay(MegapayPayment("o-1", BigDecimal(250), "996700000001", "17"), half) } },
            "serviceName" to { runBlocking { gateway.createPayForm(form) } },
            "orderNumber" to { PaymentRef.mbank(half, 250) },
            "orderNumber" to { MbankPayment(half, "996555000101", 250, "Two tickets").paymentRef() },
            // What is refused here never has to be printed.
            "transactionId" to { PaymentRef(PaymentKind.QR, transactionId = half) },
            "confirmIdentifier" to { PaymentRef(PaymentKind.MBANK, confirmIdentifier = half) },
            "currency" to { PaymentRef.card("o-1", BigDecimal.ONE, half) },
            "gatewayNumber" to { PaymentRef.mbank("o-1", 250).withGatewayNumber(half) },
            "orderNumber" to { PaymentRef.payForm(BigDecimal.ONE).withClaimedNumber(half) },
            "entry_id" to { PaymentRef.payForm(BigDecimal.ONE).withEntryId(half) },
            "entry_id" to { QrPayment(100, entryId = half).paymentRef() },
            "pageUrl" to { PaymentEntry(PaymentRef.mbank("o-1", 250), pageUrl = half) },
            "qrText" to { PaymentEntry(PaymentRef.mbank("o-1", 250), qrText = half) },
            "paymentEntry" to { PaymentEntry.parse(half) },
            "proxy" to { Proxy.url(half) },
            "text" to { QrCode.encode(half) },
            "elqr" to { Elqr.parse(half) },
            "provider" to { Elqr(ElqrKind.STATIC, half, "SHOP", "5812").text() },
            "fields" to { Elqr(ElqrKind.STATIC, "qr.example.kg", "SHOP", "5812", fields = listOf(ElqrField("35", half))).check(1) },
        )
        for ((field, call) in calls) {
            val error = assertThrows<PaymentException.Invalid> { call() }
            assertEquals(listOf(field), error.violations.map { it.field })
            assertFalse("secret" in error.message)
        }
        assertTrue(QrCode.encode("😀").text().isNotEmpty())
        assertEquals(0, server.received.size)
    }

    @ParameterizedTest
    @ValueSource(strings = ["1E+1000000000", "1E-1000000000", "0.12345678901234567890123456789", "99999999999999999999999999999"])
    fun `amount that cannot be held is refused, however large it is written`(amount: String) {
        val error = assertThrows<PaymentException.Invalid> { Kassa.somToTyiyn(BigDecimal(amount)) }
        assertEquals(Rule.EXACT, error.violations.single().rule)
        assertThrows<PaymentException.Invalid> { cardPayment().copy(amount = BigDecimal(amount)).advice() }
        // What is refused here never has to be printed.
        assertThrows<PaymentException.Invalid> { PaymentRef(PaymentKind.CARD, amount = BigDecimal(amount)) }
    }

    @Test
    fun `settings that cannot work are named`() {
        val credentials = Credentials("shop", "p")
        fun config(deadline: Duration = 1.seconds, retries: Int = 0) =
            GatewayConfig("https://pay.example.kg", credentials, paymentDeadline = deadline, queryRetries = retries)
        for ((name, config) in listOf("payment_deadline" to config((-1).seconds), "query_retries" to config(retries = -1))) {
            assertTrue(name in assertThrows<PaymentException.Misconfigured> { Gateway(config) }.message)
        }
        assertThrows<PaymentException.Invalid> { QrCode.encode("x").png(-1) }
    }

    /** The JVM cannot change the variables of its own process. */
    private interface LibC : Library {
        fun setenv(name: String, value: String, overwrite: Int): Int
        fun unsetenv(name: String): Int
    }

    @Test
    fun `environment says where the gateway is`() {
        val libC = Native.load("c", LibC::class.java)
        val variables = mapOf(
            "KASSA_URL" to "https://pay.example.kg",
            "KASSA_LOGIN" to "shop",
            "KASSA_PASSWORD" to "secret-77",
            "KASSA_PROXY" to "environment",
        )
        try {
            variables.forEach { (name, value) -> libC.setenv(name, value, 1) }
            val config = GatewayConfig.fromEnvironment()
            assertEquals("https://pay.example.kg", config.baseUrl)
            assertTrue("proxy=Proxy(environment)" in config.toString() && "secret-77" !in config.toString(), config.toString())
            Gateway(config).close()
            libC.unsetenv("KASSA_LOGIN")
            libC.setenv("KASSA_PROXY", "secret-77", 1)
            val text = assertThrows<PaymentException.Misconfigured> { GatewayConfig.fromEnvironment() }.message
            assertTrue("KASSA_LOGIN must be set" in text && "KASSA_PROXY" in text && "secret-77" !in text, text)
        } finally {
            variables.keys.forEach(libC::unsetenv)
        }
    }

    @Test
    fun `time without end is one`() {
        val config = GatewayConfig("https://pay.example.kg", Credentials("shop", "p"), queryDeadline = Duration.INFINITE)
        val policy = PollPolicy(Duration.INFINITE, Duration.INFINITE)
        Gateway(config).use { it.withDeadline(Duration.INFINITE).watch(PaymentRef.mbank("o-1", 250), policy) }
    }

    @ParameterizedTest
    @CsvSource(
        "https://gw.kg/3ds?token=a|b, https://gw.kg/3ds?token=a%7Cb",
        "https://gw.kg/a^b?c={d}&e=%zz#f#g, https://gw.kg/a%5Eb?c=%7Bd%7D&e=%25zz#f%23g",
        "https://[::1]:8080/x[1]?y[2]=`\\, https://[::1]:8080/x%5B1%5D?y%5B2%5D=%60%5C",
        "https://gw.kg/%D1%8F?q=%20, https://gw.kg/%D1%8F?q=%20",
    )
    fun `page that browsers open can be had as a URI`(url: String, uri: String) {
        assertEquals(URI(uri), checkedUri(url))
    }

    @Test
    fun `words are the core's, all of them`() {
        fun names(values: List<Enum<*>>) = values.map { it.name }
        assertEquals(names(CoreRule.values().toList()), names(Rule.entries))
        assertEquals(names(CoreAdviceTopic.values().toList()), names(AdviceTopic.entries))
        assertEquals(names(CoreLogLevel.values().toList()), names(LogLevel.entries))
        assertEquals(names(CoreMessageTopic.values().toList()), names(MessageTopic.entries))
        assertEquals(names(CoreDeclineReason.values().toList()), names(DeclineReason.entries))
        assertEquals(names(CorePaymentMethod.values().toList()), names(PaymentMethod.entries))
        assertEquals(names(CoreElqrKind.values().toList()), names(ElqrKind.entries))
        assertEquals(names(CoreQrLevel.values().toList()), names(QrLevel.entries))
        assertEquals(names(CoreStatusQueryForm.values().toList()), names(StatusQueryForm.entries))
        assertEquals(listOf("card", "mbank", "megapay", "pay_form", "qr"), PaymentKind.entries.map { it.toString() })
        assertTrue(Rule.entries.all { it.toString() == it.name.lowercase() })
    }

    @Test
    fun `message speaks three languages`() {
        for (topic in MessageTopic.entries) {
            val texts = Language.entries.map { CheckoutMessage(topic, "the gateway's own words").textIn(it) }
            assertEquals(3, texts.toSet().size, "$texts")
        }
        val refused = CheckoutMessage(MessageTopic.CODE_REFUSED).textIn(Language.RUSSIAN)
        assertEquals("Этот код не подошёл. Введите его ещё раз.", refused)
    }

    @Test
    fun `message says why, in the payer's language`() {
        for (decline in DeclineReason.entries) {
            val reasons = Language.entries.map { CheckoutMessage(MessageTopic.REJECTED, "DECLINED 51", decline).reasonIn(it) }
            assertEquals(3, reasons.filterNotNull().toSet().size, "$reasons")
        }
        assertEquals(null, CheckoutMessage(MessageTopic.REJECTED, "DECLINED 51").reasonIn(Language.ENGLISH))
    }

    @Test
    fun `screen says something whatever it is given`() {
        val half = "\ud83d"
        val message = CheckoutMessage(MessageTopic.REJECTED, half)
        val odd = listOf(
            CheckoutState.Ready(emptyList(), message), CheckoutState.ShowQr(half),
            CheckoutState.EnterOtp(PaymentMethod.MEGAPAY, -1, message, half, BigDecimal("1E+1000000000"), BigDecimal("0.1")),
            CheckoutState.OpenPage(half, false), CheckoutState.Waiting(half), CheckoutState.Paid(BigDecimal("1E+1000000000"), half),
        )
        for (state in odd) {
            val texts = CheckoutTexts.of(state, mayHavePaid = true, Language.KYRGYZ)
            assertTrue(texts.title.isNotEmpty() && texts.reason == null, "$texts")
        }
        assertEquals("1E+1000000000\u00a0KGS", Kassa.amountText(BigDecimal("1E+1000000000"), "KGS", Language.ENGLISH))
        assertEquals("7\u00a0$half", Kassa.payText(BigDecimal(7), half, Language.ENGLISH))
        assertNull(Kassa.phoneHint("0555 000 101$half", Language.ENGLISH))
    }

    @Test
    fun `cost shows the total, or that the commission is unknown`() {
        fun cost(state: CheckoutState) = CheckoutTexts.of(state, mayHavePaid = false, Language.ENGLISH).cost
        val megapay = CheckoutState.EnterOtp(PaymentMethod.MEGAPAY, 3, commission = BigDecimal("7.8"), total = BigDecimal("397.80"))
        val nbsp = "\u00a0"
        assertEquals("You pay 397.80${nbsp}som (amount 390${nbsp}som, commission 7.80${nbsp}som).", cost(megapay))
        val unknown = "MegaPay may charge a commission. The amount is not known."
        assertEquals(unknown, cost(megapay.copy(commission = null, total = null)))
        assertEquals(unknown, cost(megapay.copy(total = BigDecimal("1E+1000000000"))), "no number that cannot be held")
        assertNull(cost(CheckoutState.EnterOtp(PaymentMethod.MBANK, 3)))
    }

    @Test
    fun `label for each way to pay`() {
        val labels = CheckoutLabels.of(Language.ENGLISH)
        assertEquals(labels, CheckoutLabels.of(Language.ENGLISH))
        assertEquals(listOf("Card or wallet", "QR code", "MBank", "MegaPay", "Card"), PaymentMethod.entries.map(labels::nameOf))
        assertEquals(PaymentMethod.entries.size, PaymentMethod.entries.map(labels::hintOf).toSet().size)
    }

    @Test
    fun `ELQR code is read as it was written`() {
        val table = ElqrField("35.00", "table:Стол:7:Стол:11")
        val plain = Elqr(ElqrKind.STATIC, "qr.example.kg", "Кафе", "5812", "02")
        val codes = listOf(
            plain, plain.copy(recipient = "996700000001", recipientEditable = false, fields = listOf(table)),
            plain.copy(merchantId = "34077", merchantService = "Заказ", amountTyiyn = 0, amountEditable = true, link = ""),
            plain.copy(kind = ElqrKind.DYNAMIC, amountTyiyn = 39_000, transaction = "17", comment = "Tea"),
        )
        for (code in codes) assertEquals(code, Elqr.parse(code.text()))
        val shown = codes.last().bankLinks().first()
        assertEquals("ELQR" to codes.last().text(), shown.bank to shown.url.toString())
        assertEquals("static", "${plain.kind}")
    }

    @Test
    fun `providers are known by their names`() {
        assertEquals(Provider.MBank, Provider.fromName("mbank"))
        assertEquals("ELSOM", Provider.fromName("ELSOM").toString())
        assertEquals(listOf("Cards", "MegaPay", "MBank"), listOf(Provider.Cards, Provider.MegaPay, Provider.MBank).map { "$it" })
    }

    @Test
    fun `unknown word is not taken for a verdict`() {
        assertEquals("charged", PaymentStatus.Charged.toString())
        assertEquals("\"charged\"", PaymentStatus.Other("charged").toString())
        assertFalse(PaymentStatus.Other("CHARGE").isFinal)
    }

    private companion object {
        const val CALLBACK = """{"orderNumber":"o-1","amount":100.10,"currency":"KGS","status":"CHARGE",""" +
            """"dateCreated":"2026-11-20T09:05:07.123456789","provider":"Cards"}"""
    }
}
