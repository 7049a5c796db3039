package dev.kassa

import dev.kassa.internal.Credentials as CoreCredentials

/**
 * The merchant's login and password, as the service's administrator issued them. Never printed.
 *
 * They also open the merchant's dashboard: keep them in the environment or a secret store, not in code, and **not in a mobile
 * app**, out of which anybody can take them. Let a back end of yours make the pay-form, and open its page in the app.
 */
public class Credentials internal constructor(internal val core: CoreCredentials) {
    /**
     * The login and the password as they are.
     *
     * @param login the login
     * @param password the password
     * @throws PaymentException.Invalid where one of them has half a surrogate pair in it, which cannot be sent
     */
    @Throws(PaymentException::class)
    public constructor(login: String, password: String) :
        this(calling { CoreCredentials.basic(sendable("login", login), sendable("password", password)) })

    /** Nothing of them. */
    override fun toString(): String = "Credentials(***)"
}
