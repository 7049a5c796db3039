package dev.kassa.sandbox

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.condition.EnabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir
import java.net.InetAddress
import java.net.ServerSocket
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds

private const val REQUESTS = 1_500

class LifeTest {
    /** A JVM that is killed leaves the program here that it has unpacked. */
    @TempDir
    lateinit var folder: Path

    @Test
    fun `it runs as long as the block`() {
        val (sandbox, pid) = Sandbox.start(SandboxOptions(login = "shop", password = "planted")).use { sandbox ->
            assertTrue(sandbox.isRunning)
            assertEquals("shop" to "planted", sandbox.login to sandbox.password)
            assertEquals(emptyList<Payment>(), sandbox.ledger())
            sandbox to sandbox.pid!!
        }
        assertFalse(sandbox.isRunning)
        assertNull(sandbox.pid)
        assertFalse(isAlive(pid))
        assertThrows<SandboxException.NotRunning> { sandbox.ledger() }
        sandbox.close()
    }

    @Test
    fun `port that is taken is named`() {
        ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { taken ->
            val port = taken.localPort
            val failed = assertThrows<SandboxException.NotStarted> { Sandbox.start(SandboxOptions(port = port)) }
            assertTrue(failed.message!!.contains("cannot listen on 127.0.0.1:$port"), failed.message)
            assertEquals(1, failed.exitCode)
        }
    }

    @Test
    fun `settings reach the sandbox`() {
        val options = SandboxOptions(
            language = PageLanguage.KYRGYZ,
            reusedOrderNumber = ReusedOrderNumber.REPLAY,
            statusNumbers = StatusNumbers.ANY,
            threeDs1Page = true,
            redirectDeclines = true,
            actsAs = DialectName.OTHER,
            mbankQuid = MbankQuid.NOT_SENT,
            callbackPauses = listOf(1.seconds, 1.minutes),
            callbackTimeout = 3.seconds,
        )
        Sandbox.start(options).use { sandbox ->
            val expected = SwitchValues(
                ReusedOrderNumber.REPLAY, StatusNumbers.ANY, true, true, PageLanguage.KYRGYZ, DialectName.OTHER,
                MbankQuid.NOT_SENT,
            )
            assertEquals(expected, sandbox.switches.read())
        }
    }

    @Test
    fun `wrong setting is named by the start`() {
        val database = Path.of("/no/such/folder/sandbox.db")
        for ((options, why) in listOf(
            SandboxOptions(login = "a:b") to "login: must not",
            SandboxOptions(database = database) to "$database",
            SandboxOptions(port = 70_000) to "70000",
            SandboxOptions(demoPayments = 1_000_001) to "1000001",
        )) {
            val failed = assertThrows<SandboxException.NotStarted> { Sandbox.start(options) }
            assertTrue(failed.message!!.contains(why), failed.message)
        }
        for (pauses in listOf(emptyList(), listOf(1_500.milliseconds))) {
            val refused = assertThrows<IllegalArgumentException> { Sandbox.start(SandboxOptions(callbackPauses = pauses)) }
            assertTrue(refused.message!!.startsWith("callbackPauses"), refused.message)
        }
    }

    @Test
    fun `invented history is there once`() {
        val options = SandboxOptions(database = folder.resolve("sandbox.db"), demoPayments = 30)
        Sandbox.start(options).use { sandbox ->
            assertEquals(30, sandbox.ledger().size)
            sandbox.restart()
            assertEquals(30, sandbox.ledger().size)
        }
    }

    @Test
    fun `crash keeps what is in the database`() {
        Sandbox.start(SandboxOptions(database = folder.resolve("sandbox.db"))).use { sandbox ->
            val address = sandbox.baseUrl
            Shop(sandbox).payByCard("order-1", TestCards.APPROVED.pan)
            val before = sandbox.payment("order-1")
            sandbox.kill()
            assertFalse(sandbox.isRunning)
            assertThrows<SandboxException.NotRunning> { sandbox.ledger() }
            sandbox.restart()
            assertEquals(address, sandbox.baseUrl)
            assertEquals(listOf(before), sandbox.ledger())
            assertTrue(sandbox.approve("order-1").isCharged)
        }
    }

    @Test
    fun `restart in memory comes back empty`() {
        Sandbox.start(SandboxOptions(redirectDeclines = true)).use { sandbox ->
            Shop(sandbox).payByCard("order-1")
            sandbox.switches.change(redirectDeclines = false)
            sandbox.faults.add(FaultName.DELAY, delay = 1.seconds)
            val (pid, token) = sandbox.pid to sandbox.adminToken
            sandbox.restart()
            assertTrue(pid != sandbox.pid)
            assertEquals(token, sandbox.adminToken)
            assertEquals(emptyList<Payment>(), sandbox.ledger())
            assertEquals(emptyList<Fault>(), sandbox.faults.list())
            assertTrue(sandbox.switches.read().redirectDeclines)
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    fun `no secret is in what others can read`() {
        val options = SandboxOptions(password = "planted")
        Sandbox.start(options).use { sandbox ->
            val arguments = Files.readString(Path.of("/proc/${sandbox.pid}/cmdline"))
            assertTrue("--announce" in arguments)
            for (secret in listOf("planted", sandbox.adminToken)) {
                assertFalse(secret in arguments || secret in "$sandbox $options")
            }
        }
    }

    @Test
    fun `log that stands still holds nothing up`() {
        val lines = mutableListOf<String>()
        val goOn = CountDownLatch(1)
        val options = SandboxOptions(log = { goOn.await(PATIENCE_SECONDS, SECONDS).also { _ -> lines += it } })
        Sandbox.start(options).use { sandbox ->
            // More than any pipe holds.
            val shop = Shop(sandbox)
            repeat(REQUESTS) { shop.status("order-$it") }
            goOn.countDown()
        }
        assertEquals(REQUESTS, lines.count { "get-status" in it })
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    fun `killed JVM leaves nothing behind, whatever else it has started`() {
        val (jvm, pids) = otherJvm(folder)
        val (sandbox, other) = pids.split(" ").map(String::toLong)
        try {
            assertTrue(isAlive(sandbox))
            jvm.destroyForcibly()
            ProcessHandle.of(sandbox).ifPresent { it.onExit().get(PATIENCE_SECONDS, SECONDS) }
            assertTrue(isAlive(other), "it would have held what it inherited")
        } finally {
            jvm.destroyForcibly()
            ProcessHandle.of(other).ifPresent(ProcessHandle::destroyForcibly)
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    fun `JVM that forgets to stop it leaves nothing behind`() {
        val (jvm, pids) = otherJvm(folder)
        val (sandbox, other) = pids.split(" ").map(String::toLong)
        ProcessHandle.of(other).ifPresent(ProcessHandle::destroyForcibly)
        jvm.outputStream.close()
        assertEquals(0, jvm.waitFor())
        ProcessHandle.of(sandbox).ifPresent { it.onExit().get(PATIENCE_SECONDS, SECONDS) }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    fun `another program that the environment names is tried, and refused`() {
        for ((program, why) in listOf("/no/such/program" to "/no/such/program", "/bin/echo" to "not a sandbox of")) {
            val (jvm, said) = otherJvm(folder, PROGRAM_VARIABLE to program)
            jvm.waitFor()
            assertTrue(why in said, said)
        }
    }

    @Test
    fun `platforms are named as JNA names them`() {
        assertEquals("linux-x86-64", platform("Linux", "amd64"))
        assertEquals("darwin-aarch64", platform("Mac OS X", "aarch64"))
        assertEquals("win32-x86-64", platform("Windows 11", "amd64"))
    }
}

private fun isAlive(pid: Long) = ProcessHandle.of(pid).isPresent

/** A JVM that starts a sandbox and another process; and the first line that it says. */
private fun otherJvm(folder: Path, vararg environment: Pair<String, String>): Pair<Process, String> {
    val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
    val classPath = System.getProperty("java.class.path")
    val process = ProcessBuilder(java, "-Djava.io.tmpdir=$folder", "-cp", classPath, OtherProgram::class.java.name)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .apply { environment() += environment }
        .start()
    return process to checkNotNull(process.inputStream.bufferedReader().readLine()) { "it said nothing" }
}

/** What the other JVM runs, until its standard input ends. */
object OtherProgram {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val sandbox = try {
            Sandbox.start()
        } catch (error: SandboxException.NotStarted) {
            return println(error.message)
        }
        val other = ProcessBuilder("sleep", "600").start()
        println("${sandbox.pid} ${other.pid()}")
        System.`in`.readAllBytes()
    }
}
