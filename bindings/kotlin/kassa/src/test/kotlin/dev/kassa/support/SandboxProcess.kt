package dev.kassa.support

import dev.kassa.Credentials
import dev.kassa.Dialect
import dev.kassa.GatewayConfig
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxOptions

/** The sandbox, and how it is reached. */
class SandboxProcess : AutoCloseable {
    private val sandbox = Sandbox.start(SandboxOptions(password = "the-password-of-the-tests"))

    fun config(): GatewayConfig =
        GatewayConfig.Builder(sandbox.baseUrl, Credentials(sandbox.login, sandbox.password))
            .dialect(Dialect.fromJson(Sandbox.dialectJson()))
            .build()

    override fun close() = sandbox.close()
}
