package dev.kassa

import java.io.File
import java.nio.file.FileSystems
import java.nio.file.Path
import kotlin.time.Duration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.Journal as CoreJournal

/**
 * A folder in which a gateway records each payment **before** sending it, so that no payment is forgotten by a program that dies.
 *
 * Give it to the gateway ([Gateway.withJournal]); then
 * - every payment has an entry, flushed to the disk before anything is sent; the gateway adds the response and the final status;
 * - **the same order number is never sent twice**, by any thread, process or program that shares the folder, even after a crash: a second
 *   attempt is [PaymentException.OutcomeUnknown] and tells what is known of the first. If the first ended with an exception that means
 *   that nothing happened, the number is free again. The confirmation of a mobile-bank or MegaPay payment is not sent again while the
 *   outcome of the first one is unknown;
 * - [Gateway.recover] polls every unfinished payment until it is final, also after a crash: deliver what is charged, and [finish] it.
 *   [unfinished] lists them without a query.
 *
 * If an entry cannot be written, nothing is sent ([PaymentException.Unavailable]). Entries hold no secrets and are readable only by the
 * owner. One folder serves any number of processes, for **one gateway and one merchant**: an order number does not tell where it was
 * sent. The folder must be on a local file system.
 *
 * Pay-forms, the gateway's own QR pictures, and QR codes without a transaction id have no number to query by: their entries have an id
 * ([PaymentRef.entryId]).
 *
 * ```
 * val gateway = Gateway(config, Journal.open(Path("/var/lib/shop/payments")))
 * gateway.recover().collect { recovered ->
 *     if (recovered is Recovered.Payment && recovered.entry.state == JournalState.CHARGED) {
 *         deliver(recovered.entry.note)
 *         gateway.finish(recovered.entry)
 *     }
 * }
 * gateway.withNote("cart 17").createMbankPayment(payment)
 * ```
 *
 * **Its own methods block their thread** while they read or write the disk. Those of [Gateway] suspend instead.
 * Any thread may call them.
 */
public class Journal private constructor(private val folder: String) {
    internal val core: CoreJournal = calling { CoreJournal.open(sendable("folder", folder)) }

    /**
     * All unfinished entries: pending, unknown or mismatched payments, and charged ones that are not finished. The oldest first, by the
     * day on which they were begun.
     *
     * They are read lazily, so any number of them needs little memory, and anew for each iteration. Iterating throws
     * [PaymentException.Unavailable] if the journal cannot be read.
     */
    @Throws(PaymentException::class)
    public fun unfinished(): Iterable<Unfinished> = inTurn { UnfinishedPages(calling { core.unfinishedPages() }) }

    /**
     * What is known of a payment, finished or not; null if it has no entry.
     *
     * @throws PaymentException.Unavailable if the entry cannot be read
     */
    @Throws(PaymentException::class)
    public fun entry(payment: PaymentRef): JournalEntry? = calling { core.entry(payment.toCore())?.toKassa() }

    /**
     * Marks an entry as finished: the goods were delivered, or a person has dealt with it. A finished entry is no longer listed; it is
     * kept for 90 days, and its order number stays taken. Finishing it again does nothing. A rejected payment is still queried for three
     * days, and listed again if the gateway charges it.
     *
     * @throws PaymentException.Invalid if there is no such entry
     * @throws PaymentException.Unavailable if that cannot be written: then it is still unfinished
     */
    @Throws(PaymentException::class)
    public fun finish(entry: JournalEntry): Unit = finish(entry.id)

    /**
     * The same by the entry's name, which is also how an [Unfinished.Unreadable] is put away.
     *
     * @throws PaymentException.Invalid if there is no such entry
     * @throws PaymentException.Unavailable if that cannot be written: then it is still unfinished
     */
    @Throws(PaymentException::class)
    public fun finish(id: String): Unit = calling { core.finish(sendable("id", id)) }

    /**
     * Permanently removes finished entries from months that ended longer ago than this. The journal then forgets their order numbers.
     * Opening a journal removes entries that were finished more than 90 days ago.
     *
     * @throws PaymentException.Unavailable if they cannot be removed
     */
    @Throws(PaymentException::class)
    public fun prune(olderThan: Duration): Unit = calling { core.prune(sendable(olderThan)) }

    /**
     * Permanently removes finished entries, for Java.
     *
     * @throws PaymentException.Unavailable if they cannot be removed
     */
    @Throws(PaymentException::class)
    public fun prune(olderThan: java.time.Duration): Unit = prune(olderThan.toKotlinDuration())

    /** Where it is. */
    override fun toString(): String = "Journal($folder)"

    /** Opens journals. */
    public companion object {
        /**
         * Opens the journal in a folder, which is created if needed, and removes entries that were finished more than 90 days ago. It
         * blocks its thread while it does.
         *
         * @throws PaymentException.Misconfigured if the folder cannot be created, read or written
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun open(folder: Path): Journal {
            if (folder.fileSystem != FileSystems.getDefault()) {
                throw PaymentException.Misconfigured("the journal's folder must be on a file system of the machine itself")
            }
            return opened("$folder") { "${folder.toAbsolutePath()}" }
        }

        /**
         * The same by a [File], such as Android has them.
         *
         * @throws PaymentException.Misconfigured if the folder cannot be created, read or written
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun open(folder: File): Journal = opened(folder.path) { folder.absolutePath }

        /** The JVM's working directory may differ from the process's. An empty name is refused instead of meaning that directory. */
        private inline fun opened(path: String, absolute: () -> String) = Journal(if (path.isEmpty()) path else absolute())
    }
}
