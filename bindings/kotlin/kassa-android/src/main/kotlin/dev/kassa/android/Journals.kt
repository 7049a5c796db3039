@file:JvmName("Journals")

package dev.kassa.android

import android.content.Context
import dev.kassa.Journal
import dev.kassa.PaymentException
import java.io.File

/**
 * The app's journal, in [Context.getNoBackupFilesDir]: it stays on the phone that made the payments. A copy on another phone, from a
 * backup or a transfer, would list payments that the first one continues, and would not know what was sent since.
 *
 * ```
 * val gateway = withContext(Dispatchers.IO) { Gateway(config, openJournal()) }
 * ```
 *
 * It reads the disk, so do not call it on the main thread. The journal survives when the app is killed or updated, until its data is
 * cleared. A folder serves one gateway and one merchant; for a second one, open another folder: `Journal.open(File(noBackupFilesDir,
 * "second-shop"))`. In Java: `Journals.openJournal(context)`.
 *
 * @throws PaymentException.Misconfigured if the folder cannot be created, read or written
 */
@Throws(PaymentException::class)
public fun Context.openJournal(): Journal = Journal.open(File(noBackupFilesDir, "kassa-journal"))
