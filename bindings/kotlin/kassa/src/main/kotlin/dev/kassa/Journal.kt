package dev.kassa

import java.io.File
import java.nio.file.FileSystems
import java.nio.file.Path
import kotlin.time.Duration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.Journal as CoreJournal

/**
 * A folder in which a gateway writes down what it sends, **before** it sends it, so that no payment is forgotten by a program that dies.
 *
 * Give it to the gateway ([Gateway.withJournal]); then
 * - every payment has an entry, flushed to the disk, before a byte of it is sent; what came back, and how it ended, is noted by the
 *   gateway itself;
 * - **the same order number is never sent twice**, by any thread, process or program that shares the folder, living or dead: a second
 *   try is [PaymentException.OutcomeUnknown] and names what is known of the first. Where the first ended in an exception that says that
 *   nothing happened, the number is free again. The confirmation of a mobile-bank payment is not sent again while it is unknown what
 *   the first one did;
 * - [Gateway.recover] polls every unfinished payment until it is final, also after a crash: deliver what is charged, and [finish] it.
 *   [unfinished] lists it without asking anybody.
 *
 * Where an entry cannot be written, nothing is sent ([PaymentException.Unavailable]). Entries hold no secret, and can be read by the
 * owner alone. One folder serves any number of processes, for **one gateway and one merchant**: an order number says nothing of where
 * it was sent. It must be on a file system of the machine itself.
 *
 * Pay-forms, the gateway's own QR pictures, and QR codes of which the gateway tells no transaction have no number to be found by: their
 * entries have a name of their own ([PaymentRef.entryId]).
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
     * They are read as they are gone through, a part at a time, so that any number of them needs little memory, and each going through
     * them reads anew. That throws [PaymentException.Unavailable] where the journal cannot be read.
     */
    @Throws(PaymentException::class)
    public fun unfinished(): Iterable<Unfinished> = inTurn { UnfinishedPages(calling { core.unfinishedPages() }) }

    /**
     * What is known of a payment, finished or not; null where it has no entry.
     *
     * @throws PaymentException.Unavailable where the entry cannot be read
     */
    @Throws(PaymentException::class)
    public fun entry(payment: PaymentRef): JournalEntry? = calling { core.entry(payment.toCore())?.toKassa() }

    /**
     * Says that a payment is done with: the goods were delivered, or a person has dealt with it. Its entry is listed no more, and kept
     * for 90 days; its order number stays taken. Finishing it again does nothing. One that was rejected is asked about for three days all
     * the same, and listed again where the gateway charged it after all.
     *
     * @throws PaymentException.Invalid where there is no such entry
     * @throws PaymentException.Unavailable where that cannot be written: then it is still unfinished
     */
    @Throws(PaymentException::class)
    public fun finish(entry: JournalEntry): Unit = finish(entry.id)

    /**
     * The same by the entry's name, which is also how an [Unfinished.Unreadable] is put away.
     *
     * @throws PaymentException.Invalid where there is no such entry
     * @throws PaymentException.Unavailable where that cannot be written: then it is still unfinished
     */
    @Throws(PaymentException::class)
    public fun finish(id: String): Unit = calling { core.finish(sendable("id", id)) }

    /**
     * Removes finished entries for good: those of months that ended longer ago than this. Their order numbers are forgotten with them.
     * What was finished more than 90 days ago is removed whenever a journal is opened.
     *
     * @throws PaymentException.Unavailable where they cannot be removed
     */
    @Throws(PaymentException::class)
    public fun prune(olderThan: Duration): Unit = calling { core.prune(sendable(olderThan)) }

    /**
     * Removes finished entries for good, for Java.
     *
     * @throws PaymentException.Unavailable where they cannot be removed
     */
    @Throws(PaymentException::class)
    public fun prune(olderThan: java.time.Duration): Unit = prune(olderThan.toKotlinDuration())

    /** Where it is. */
    override fun toString(): String = "Journal($folder)"

    /** Opens journals. */
    public companion object {
        /**
         * Opens the journal in a folder, which is made if need be, and removes what was finished more than 90 days ago. It blocks its
         * thread while it does.
         *
         * @throws PaymentException.Misconfigured where the folder cannot be made, read or written
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
         * @throws PaymentException.Misconfigured where the folder cannot be made, read or written
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun open(folder: File): Journal = opened(folder.path) { folder.absolutePath }

        /** What the JVM takes for its folder need not be the process's. No name at all is refused, and not taken for it. */
        private inline fun opened(path: String, absolute: () -> String) = Journal(if (path.isEmpty()) path else absolute())
    }
}
