package dev.kassa

import dev.kassa.internal.UnfinishedPages as CoreUnfinishedPages

/** The unfinished entries of the core's journal, in pages. It blocks its thread while it reads the disk. */
internal class UnfinishedPages(private val core: CoreUnfinishedPages) : AutoCloseable {
    /** The next ones; null after the last ones. */
    fun next(): List<Unfinished>? = calling { core.nextPage().map { it.toKassa() } }.ifEmpty { null }

    override fun close(): Unit = calling { core.close() }
}

/** One after the other, each time from the beginning. */
internal fun inTurn(begin: () -> UnfinishedPages): Iterable<Unfinished> = Iterable {
    iterator {
        begin().use { pages ->
            while (true) yieldAll(pages.next() ?: break)
        }
    }
}
