// Every field of a request has an option with a test value.

/// How to reach the gateway.
enum ConnectionOptions {
    static let baseURL = Option(
        name: "base-url", value: "URL", variable: "KASSA_URL", help: "The gateway's base URL; a sandbox is started without one")
    static let login = Option(name: "login", value: "LOGIN", variable: "KASSA_LOGIN", help: "The merchant's login")
    static let password = Option(
        name: "password", value: "PASSWORD", variable: "KASSA_PASSWORD", isSecret: true,
        help: "The merchant's password; better given by the environment or --secrets-stdin")
    static let secretsStdin = Option(
        name: "secrets-stdin",
        help: "Read secrets from standard input: one line of JSON with any of the texts \(Secrets.names). "
            + "They go before options and environment")
    static let dialect = Option(
        name: "dialect", value: "FILE", variable: "KASSA_DIALECT",
        help: "Read the gateway's replies by this dialect (JSON); the sandbox has its own")
    static let sandboxDB = Option(
        name: "sandbox-db", value: "FILE", help: "Let the sandbox keep its payments in this file, so that a later run finds them")
    static let timeout = Option(
        name: "timeout", value: "TIME", fallback: "30", help: "How long one call to the gateway may take, retries included")
    static let rootCertificates = Option(
        name: "root-certificates", value: "FILE", isRepeatable: true,
        help: "Trust the certificates in this PEM file, too; may be given again")
    static let statusAsQuery = Option(
        name: "status-as-query", help: "Send status queries as a query string, for a proxy that drops the body of a GET")

    static let all = [
        baseURL, login, password, secretsStdin, dialect, sandboxDB, timeout, rootCertificates, statusAsQuery,
    ]
}

/// How to follow payments, and how to tell about them.
enum FollowingOptions {
    static let pollInterval = Option(
        name: "poll-interval", value: "TIME",
        help: "The time between two status queries, such as 10, 0.5 or 500ms: 10, with the sandbox 1")
    static let deadline = Option(
        name: "deadline", value: "TIME", help: "How long to follow an open payment: 20m, with the sandbox and its robot 1m")
    static let callbackURL = Option(
        name: "callback-url", value: "URL", variable: "KASSA_CALLBACK_URL",
        help: "A public URL that leads to this program's callback port; without it, that port on 127.0.0.1")
    static let callbackPort = Option(
        name: "callback-port", value: "PORT", fallback: "0",
        help: "The port on 127.0.0.1 for callbacks and returning payers; 0 takes a free one")
    static let callbackWait = Option(
        name: "callback-wait", value: "TIME", fallback: "10", help: "How long to wait for a callback once the payment is over")
    static let state = Option(
        name: "state", value: "FILE", variable: "KASSA_STATE", fallback: ".kassa-checkout.json",
        help: "The file in which payments are kept before they are sent, and marked when they are over")
    static let interactive = Option(
        name: "interactive", help: "Let a person play the payer: print the pages' links, ask for one-time passwords")
    static let json = Option(
        name: "json",
        help: "Print the answer or the error as one line of JSON, the only one on standard output; the story goes to standard error")

    static let all = [pollInterval, deadline, callbackURL, callbackPort, callbackWait, state, interactive, json]
}

/// A card. Better given by the environment or --secrets-stdin.
enum CardFields {
    static let pan = Option(
        name: "pan", value: "PAN", variable: "KASSA_CARD_PAN", fallback: "4111 1111 1111 1111", isSecret: true,
        help: "The card number, 13 to 20 digits; spaces and hyphens are left out")
    static let expiryMonth = Option(
        name: "expiry-month", value: "MM", variable: "KASSA_CARD_EXPIRY_MONTH", fallback: "12", isSecret: true,
        help: "The month of expiry, two digits")
    static let expiryYear = Option(
        name: "expiry-year", value: "YYYY", variable: "KASSA_CARD_EXPIRY_YEAR", fallback: "2099", isSecret: true,
        help: "The year of expiry, four digits")
    static let cvc = Option(
        name: "cvc", value: "CVC", variable: "KASSA_CARD_CVC", fallback: "123", isSecret: true,
        help: "The card's verification code")
    static let name = Option(
        name: "name", value: "NAME", variable: "KASSA_CARD_NAME", fallback: "Aibek Usenov", help: "The cardholder, first name first")

    static let all = [pan, expiryMonth, expiryYear, cvc, name]
}

/// What several payments take.
enum PaymentOptions {
    static let orderNumber = Option(
        name: "order-number", value: "NUMBER", help: "The merchant's unique number of the payment; without it, a new one")
    static let returnURL = Option(
        name: "return-url", value: "URL", help: "Where the payer's browser goes after success; without it, a page of this program")
    static let otp = Option(
        name: "otp", value: "OTP", variable: "KASSA_OTP", isSecret: true,
        help: "The payer's one-time password; without it, that of the sandbox's test card or phone, or --interactive asks")
    static let noCallback = Option(name: "no-callback", help: "Ask for no callback")
    static let noWait = Option(
        name: "no-wait", help: "Stop after the gateway's answer; `confirm` or `watch --resume` goes on")
}

/// `checkout card`
enum CardOptions {
    static let description = Option(name: "description", value: "TEXT", fallback: "Two tickets", help: "What is paid for")
    static let amount = Option(
        name: "amount", value: "AMOUNT", fallback: "100.10", help: "The amount in units of the currency, at least 1")
    static let currency = Option(name: "currency", value: "CURRENCY", fallback: "KGS", help: "The currency's three letters")
    static let language = Option(name: "language", value: "LANGUAGE", fallback: "en", help: "The payer's language, two letters")
    static let ip = Option(name: "ip", value: "IP", fallback: "203.0.113.7", help: "The payer's IP address")
    static let email = Option(name: "email", value: "EMAIL", help: "The payer's e-mail; none without it")

    static let all =
        [PaymentOptions.orderNumber, description, amount, currency, language, ip, email, PaymentOptions.returnURL]
        + CardFields.all + [PaymentOptions.otp, PaymentOptions.noWait]
}

/// `checkout mbank`
enum MbankOptions {
    static let phone = Option(
        name: "phone", value: "PHONE", fallback: "996555000101", help: "The MBank payer's number, to which the one-time password goes")
    static let amount = Option(name: "amount", value: "SOM", fallback: "250", help: "The amount in whole som, at least 1")
    static let comment = Option(name: "comment", value: "TEXT", fallback: "Lunch for two", help: "What is paid for")

    static let all = [
        PaymentOptions.orderNumber, phone, amount, comment, PaymentOptions.noCallback, PaymentOptions.otp, PaymentOptions.noWait,
    ]
}

/// `checkout confirm`
enum ConfirmOptions {
    static let amount = Option(
        name: "amount", value: "SOM", help: "The amount in whole som; needed where the state file does not know the payment")
    static let identifier = Option(
        name: "identifier", value: "ID",
        help: "The identifier that the creation yielded, where the dialect names one; without it, what the state file holds")

    static let all = [PaymentOptions.orderNumber, amount, identifier, PaymentOptions.otp, PaymentOptions.noWait]
}

/// `checkout pay-form`
enum PayFormOptions {
    static let amount = Option(
        name: "amount", value: "AMOUNT", fallback: "75.50", help: "The amount in KGS, at least 1; MegaPay takes no less than 5")
    static let serviceName = Option(
        name: "service-name", value: "TEXT", fallback: "A month of music", help: "What is paid for")
    static let payWith = Option(
        name: "pay-with", value: "card|mbank|megapay", fallback: "megapay", help: "What the robot picks on the page")
    static let phone = Option(
        name: "phone", value: "PHONE", help: "The number that the robot enters for a wallet; without it, an approved test phone")

    static let all =
        [amount, serviceName, PaymentOptions.returnURL, payWith, phone] + CardFields.all
        + [PaymentOptions.otp, PaymentOptions.noWait]
}

/// `checkout qr`
enum QrOptions {
    static let amount = Option(
        name: "amount", value: "SOM", fallback: "120.50",
        help: "The amount in som, to the tyiyn; `open` lets the payer name it (not with --image)")
    static let requisite = Option(
        name: "requisite", value: "TEXT", fallback: "Kassa Coffee, Bishkek",
        help: "The payee: a phone number, or the name of the enterprise or branch; an empty text leaves it out")
    static let image = Option(
        name: "image", value: "FILE", help: "Ask for the gateway's own picture instead of the data, and save it here (PNG, 400x400)")
    static let decline = Option(name: "decline", help: "Let the robot decline instead of approve")

    static let all = [amount, requisite, PaymentOptions.noCallback, image, decline, PaymentOptions.noWait]
}

/// Which payment a query is about.
enum SubjectOptions {
    static let payment = Option(name: "payment", value: "REF", help: "The payment as its stored reference (kassa1:...)")
    static let orderNumber = Option(
        name: "order-number", value: "NUMBER", help: "The merchant's order number; needs --provider")
    static let provider = Option(
        name: "provider", value: "PROVIDER", help: "Who carries the payment out: Cards, MBank or MegaPay")
    static let gatewayNumber = Option(
        name: "gateway-number", value: "NUMBER", help: "The gateway's own order number (the token of the confirmation page)")
    static let transactionID = Option(name: "transaction-id", value: "ID", help: "The identifier of a QR transaction")

    static let all = [payment, orderNumber, provider, gatewayNumber, transactionID]
}

/// What was asked for, where no stored reference tells it.
enum AskedForOptions {
    static let amount = Option(
        name: "amount", value: "AMOUNT",
        help: "The amount that was asked for, in units of the currency; needed where no --payment tells it")
    static let currency = Option(name: "currency", value: "CURRENCY", fallback: "KGS", help: "The currency that was asked for")

    static let all = [amount, currency]
}

/// `checkout status`
enum StatusOptions {
    static let language = Option(
        name: "language", value: "LANGUAGE", help: "The language of the gateway's messages, two letters; with --gateway-number only")
}

/// `checkout watch`
enum WatchOptions {
    static let resume = Option(
        name: "resume", help: "Follow every payment that the state file holds open for this gateway, and mark it when it is over")
}

/// `checkout callback`, about the payment that is named like that, else the one in the state file with the callback's number.
enum CallbackOptions {
    static let file = Option(
        name: "file", value: "FILE", help: "Check one callback from this file (`-` is standard input) instead of listening")
    static let count = Option(
        name: "count", value: "NUMBER", help: "Stop after so many callbacks, duplicates not counted; else at the deadline or Ctrl-C")

    static let all = [file, count] + SubjectOptions.all + AskedForOptions.all
}
