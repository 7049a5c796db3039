package dev.kassa.sandbox

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentHashMap

/** The dialects in this jar, as texts and as files that another program can read. */
internal object DialectFiles {
    private val paths = ConcurrentHashMap<DialectName, Path>()

    fun json(name: DialectName): String {
        val file = when (name) {
            DialectName.INTERFACE -> "sandbox-dialect.json"
            DialectName.OTHER -> "sandbox-other-dialect.json"
            DialectName.FINIPAY -> "sandbox-finipay-dialect.json"
        }
        return checkNotNull(Sandbox::class.java.getResource(file)) { "$file is not in this jar" }.readText()
    }

    /** Written once in a run; an orderly exit of the JVM removes it. */
    fun path(name: DialectName): Path = paths.computeIfAbsent(name) {
        val file = Files.createTempFile("kassa-sandbox-${name.word}-", ".json")
        file.toFile().deleteOnExit()
        Files.writeString(file, json(name))
    }
}
