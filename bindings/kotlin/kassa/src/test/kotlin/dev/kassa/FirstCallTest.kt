package dev.kassa

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import java.math.BigDecimal
import java.nio.file.Files
import java.nio.file.Path

/**
 * Whatever a program calls first goes one way into the generated code. Two threads that began with JNA on different ways could wait for
 * each other for ever.
 */
class FirstCallTest {
    @ParameterizedTest
    @MethodSource("calls")
    fun `first call loads the library before it does anything else`(call: String) {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val options = listOf("-XX:TieredStopAtLevel=1", "-Xlog:class+init=info:stdout:none")
        val program = listOf("-cp", System.getProperty("java.class.path"), FirstCall::class.java.name, call)
        val process = ProcessBuilder(listOf(java) + options + program).redirectErrorStream(true).start()
        val lines = process.inputStream.bufferedReader().readLines()
        assertEquals(0, process.waitFor(), lines.joinToString("\n"))

        fun first(name: String) = lines.indexOfFirst { "Initializing '$name" in it }
        assertTrue(first("dev/kassa/Library'") >= 0, "it does not load it")
        assertTrue(first("dev/kassa/Library'") < first("com/sun/jna/"), "it began with JNA by itself")
    }

    private companion object {
        @JvmStatic
        fun calls() = FirstCall.calls.keys
    }
}

/** A program of one call. */
internal object FirstCall {
    @JvmStatic
    fun main(arguments: Array<String>) {
        calls.getValue(arguments.single())()
    }

    val calls = mapOf<String, () -> Unit>(
        "credentials" to { Credentials("shop", "a password") },
        "card" to { Card("4111111111111111", "08", 2031, "123", "Aibek Usenov") },
        "dialect" to { Dialect() },
        "dialects by name" to { check("finipay" in Dialect.names()) },
        "callback" to { runCatching { Callback.parse("{}") } },
        "return redirect" to { ReturnRedirect.parse("https://shop.example/?OrderNumber=o-1&statusCode=200") },
        "payment reference" to { PaymentRef.mbank("o-1", 250) },
        "payment reference's text" to { PaymentRef.qr(null).toString() },
        "qr code" to { QrCode.encode("https://pay.example/1") },
        "order number" to { Kassa.newOrderNumber() },
        "amount" to { Kassa.somToTyiyn(BigDecimal.TEN) },
        "provider" to { Provider.fromName("MBank") },
        "status" to { check(PaymentStatus.Charged.isFinal) },
        "status's text" to { check(PaymentStatus.Charged.toString() == "charged") },
        "kind" to { check(PaymentKind.CARD.toString() == "card") },
        "rule" to { check(Rule.LUHN.toString() == "luhn") },
        "advice topic" to { AdviceTopic.values().forEach { it.toString() } },
        "error" to { check(!PaymentException.DeadlineExpired().paymentMayExist) },
        "logging" to { Kassa.logTo(null) },
        "journal" to { Files.createTempDirectory("kassa-journal").toFile().apply { Journal.open(this) }.deleteRecursively() },
        "checkout" to { Checkout.open("http://127.0.0.1:9", "ct_none").close() },
        "checkout's message" to { check(CheckoutMessage(MessageTopic.REJECTED).textIn(Language.ENGLISH).isNotEmpty()) },
        "checkout's texts" to { CheckoutTexts.of(CheckoutState.Expired, mayHavePaid = false, Language.ENGLISH) },
        "checkout's labels" to { CheckoutLabels.of(Language.KYRGYZ) },
        "amount in words" to { Kassa.amountText(BigDecimal.TEN, "KGS", Language.RUSSIAN) },
        "phone's hint" to { Kassa.phoneHint("0555 000 101", Language.RUSSIAN) },
        "gateway" to { Gateway("http://127.0.0.1:9", Credentials("shop", "a password")).use {} },
    )
}
