package dev.kassa

import dev.kassa.internal.Credentials as CoreCredentials

/**
 * The merchant's login and password, as the service's administrator issued them. Never printed.
 *
 * They also open the merchant's dashboard: keep them in the environment or a secret store, not in code, and **not in a mobile
 * app**, out of which anybody can take them. Let a back end of yours make the pay-form, and open its page in the app.
 */
@Throws(PaymentException::class)
public constructor(login: String, password: String) {
    internal val core: CoreCredentials =
        calling { CoreCredentials.basic(sendable("login", login), sendable("password", password)) }

    /** Nothing of them. */
    override fun toString(): String = "Credentials(***)"
}
