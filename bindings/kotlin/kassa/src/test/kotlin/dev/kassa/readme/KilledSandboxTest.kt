package dev.kassa.readme

import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxOptions
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path

/** What the sandbox's README shows of a sandbox that dies. */
class KilledSandboxTest {
    @TempDir
    lateinit var folder: Path

    @Test
    fun `it is there again after a crash`() {
        Sandbox.start(SandboxOptions(database = folder.resolve("sandbox.db"))).use { sandbox ->
            sandbox.kill()    // as a crash would
            sandbox.restart() // the same port, and what was in the database
            check(sandbox.ledger().isEmpty())
        }
    }
}
