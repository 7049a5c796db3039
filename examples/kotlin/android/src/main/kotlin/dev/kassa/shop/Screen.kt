package dev.kassa.shop

/** What the payer sees. */
sealed interface Screen {
    /** Nothing is being paid; [message] says what became of the last try, where there was one. */
    data class Ready(val message: String = "A jar of honey") : Screen

    /** The payment is on its way to the gateway. */
    data object Sending : Screen

    /** Something is being asked. */
    data class Waiting(val message: String) : Screen

    /** The payer confirms the payment on the bank's page (3DS), which is to be opened. */
    data class Confirm(val page: String) : Screen

    /** The payer lets another phone scan this. */
    data class ShowQr(val text: String) : Screen

    /** It is open, and nobody is asking any more: the payer may have it asked again. */
    data class StillOpen(val message: String) : Screen

    /** Asking does not help: a person has to look. Nothing is paid until then. */
    data class PersonNeeded(val message: String) : Screen

    /** The money was taken. */
    data class Paid(val price: String) : Screen
}
