package dev.kassa.readme

import dev.kassa.BlockingGateway
import dev.kassa.Credentials
import dev.kassa.GatewayConfig
import dev.kassa.Journal
import dev.kassa.MbankPayment
import dev.kassa.StopSignal
import dev.kassa.sandbox.Endpoint
import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestCards
import dev.kassa.sandbox.TestPhones
import dev.kassa.sandbox.junit.WithSandbox
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.card
import dev.kassa.support.cardPayment
import dev.kassa.support.mbankPayment
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.io.path.Path
import kotlin.io.path.readText
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** The programs of the package's README. */
@WithSandbox
class ReadmeTest(private val sandbox: Sandbox) {
    @TempDir
    lateinit var folder: Path
    private val journal by lazy { Journal.open(folder.resolve("payments")) }

    @Test
    fun `what it shows is what is tested`() {
        val shown = listOf("README.md", "kassa-sandbox/README.md").flatMap { readme ->
            Regex("```(?:kotlin|java)\n(.*?)```", RegexOption.DOT_MATCHES_ALL).findAll(textOf(readme)).map { it.groupValues[1] }
        }
        val files = listOf(
            "kassa/src/test/kotlin/dev/kassa/readme/FirstProgram.kt",
            "kassa-client/src/test/kotlin/dev/kassa/client/HoneyShop.kt",
            "kassa-client/src/test/java/dev/kassa/client/JavaShop.java",
            "kassa/src/test/kotlin/dev/kassa/readme/PaymentScreen.kt",
            "kassa/src/test/kotlin/dev/kassa/readme/Worker.kt",
            "kassa/src/test/kotlin/dev/kassa/readme/Worker.kt",
            "kassa/src/test/java/dev/kassa/java/ReadmeProgram.java",
            "kassa/src/test/kotlin/dev/kassa/readme/Serializers.kt",
            "kassa/src/smoke/module/module-info.java",
            "kassa-android-ui/src/test/kotlin/dev/kassa/android/ui/CartActivity.kt",
            "kassa-android-ui/src/test/kotlin/dev/kassa/android/ui/ReadmeScreens.kt",
            "kassa-android-ui/src/test/kotlin/dev/kassa/android/ui/ReadmeScreens.kt",
            "kassa-android-ui/src/test/kotlin/dev/kassa/android/ui/ReadmeScreens.kt",
            "kassa/src/test/kotlin/dev/kassa/readme/OwnTest.kt",
            "kassa/src/test/kotlin/dev/kassa/readme/CheckoutTest.kt",
            "kassa/src/test/kotlin/dev/kassa/readme/KilledSandboxTest.kt",
        )
        assertEquals(files.size, shown.size, "the README shows $shown")
        for ((program, file) in shown.zip(files)) {
            assertTrue(plain(program) in plain(textOf(file)), "the README shows\n$program\nand $file is\n${textOf(file)}")
        }
    }

    private fun textOf(file: String) = Path(System.getProperty("kassa.repository"), "bindings/kotlin", file).readText()

    /** Without imports, and however deep it stands. */
    private fun plain(program: String) =
        program.lines().map { it.trim() }.filterNot { it.startsWith("import ") }.joinToString("\n").trim()

    @Test
    fun `first program is paid, and tells what another one left behind`() {
        leaveRejected()
        val printed = runFirstProgram()
        assertTrue("The code from the SMS?" in printed, printed)
        assertEquals(1, printed.split("paid: deliver cart 17").size - 1, printed)
        val rejected = printed.lines().single { "not paid: " in it }
        assertTrue("The payment was declined" in rejected && "order-16" in rejected, printed)
        assertTrue("1 delivered; left open: nothing" in printed.lines(), printed)
        assertEquals(listOf(false, true), sandbox.ledger().map { it.isCharged })
        assertEquals(0, journal.unfinished().count())
    }

    @Test
    fun `first program finds out what became of a lost answer`() {
        sandbox.faults.add(FaultName.RESPONSE_LOST, endpoint = Endpoint.MBANK_CONFIRM, times = 1).use {
            val printed = runFirstProgram()
            assertTrue("may have" in printed.substringBefore("paid: deliver cart 17"), printed)
            assertEquals(1, it.struck)
        }
        assertEquals(1, sandbox.ledger().single().timesCharged)
        assertEquals(0, journal.unfinished().count())
    }

    @Test
    fun `program in Java ships what is charged`() {
        val printed = run("dev.kassa.java.ReadmeProgram")
        assertTrue("Payment not found" in printed, printed)
        BlockingGateway(config()).use { it.createCardPayment(cardPayment(card(TestCards.WITHOUT_3DS_APPROVED.pan), "order-17")) }
        assertEquals("ship\n", run("dev.kassa.java.ReadmeProgram"))
    }

    @Test
    fun `worker delivers what is begun while it works, and finishes it`() = runBlocking {
        val fake = FakeGateway()
        val gateway = fake.gateway.withJournal(journal)
        val delivered = Channel<String?>()
        val worker = launch(Dispatchers.Default) { deliverWhatIsPaid(gateway, delivered::send) }
        val payments = listOf("cart 17", "cart 18").map { note ->
            val created = gateway.withNote(note).createMbankPayment(mbankPayment())
            gateway.confirmMbankPayment(created.payment, fake.otp)
            assertEquals(note, delivered.receive())
            created.payment
        }
        // A payment is finished after it was delivered, and a folder that is written to cannot be deleted.
        withTimeout(PATIENCE_SECONDS.seconds) { while (journal.unfinished().any()) delay(5.milliseconds) }
        worker.cancelAndJoin()
        gateway.close()
        assertTrue(payments.all { journal.entry(it)!!.isFinished })
    }

    @Test
    fun `worker that runs until it is stopped delivers and finishes the same`() = runBlocking {
        val fake = FakeGateway()
        val gateway = fake.gateway.withJournal(journal)
        val delivered = Channel<String?>()
        val stop = StopSignal()
        val worker = launch(Dispatchers.Default) { deliverUntil(stop, gateway, delivered::send) }
        val created = gateway.withNote("cart 17").createMbankPayment(mbankPayment())
        gateway.confirmMbankPayment(created.payment, fake.otp)
        assertEquals("cart 17", delivered.receive())
        stop.stop()
        worker.join()
        assertTrue(journal.entry(created.payment)!!.isFinished)
    }

    private fun leaveRejected() {
        BlockingGateway(config(), journal).withNote("cart 16").use { gateway ->
            val phone = TestPhones.MBANK_DECLINED
            val created = gateway.createMbankPayment(MbankPayment("order-16", phone.phone, 250, "Two tickets"))
            gateway.confirmMbankPayment(created.payment, phone.otp)
        }
    }

    private fun config() = GatewayConfig(sandbox.baseUrl, Credentials(sandbox.login, sandbox.password))

    private fun runFirstProgram() = run("dev.kassa.readme.FirstProgramKt")

    /** In a process of its own, as its settings come from the environment; what it printed. */
    private fun run(program: String): String {
        val java = Path(System.getProperty("java.home"), "bin", "java").toString()
        val printed = folder.resolve("printed")
        val process = ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), program)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .apply { environment().keys.removeIf { it.startsWith("KASSA_") } }
            .apply { environment() += sandbox.environment() }
            .start()
        try {
            process.outputStream.use { it.write("${TestPhones.MBANK_APPROVED.otp}\n".toByteArray()) }
            assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "it does not end")
        } finally {
            process.destroyForcibly()
        }
        assertEquals(0, process.exitValue(), printed.readText())
        return printed.readText()
    }
}
