package dev.kassa

import dev.kassa.internal.Credentials as CoreCredentials

/**
 * The merchant's login and password, issued by the service's administrator. Never printed.
 *
 * They also open the merchant's dashboard: keep them in the environment or a secret store, not in code, and **not in a mobile app**, from
 * which anybody can extract them. Let your back end create the pay-form, and open its page in the app.
 */
public class Credentials internal constructor(internal val core: CoreCredentials) {
    /**
     * Creates credentials from a login and a password.
     *
     * @param login the login
     * @param password the password
     * @throws PaymentException.Invalid if one of them contains an unpaired surrogate, which cannot be sent
     */
    @Throws(PaymentException::class)
    public constructor(login: String, password: String) :
        this(calling { CoreCredentials.basic(sendable("login", login), sendable("password", password)) })

    /** A mask. */
    override fun toString(): String = "Credentials(***)"
}
