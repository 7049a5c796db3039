package dev.kassa.sandbox

import kotlin.system.exitProcess

/** The sandbox's program in a terminal, with its own options: for `java -cp`, and for Maven's exec plugin. */
internal object Main {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val program = ProcessBuilder(Program.find().toString(), *arguments).inheritIO().start()
        Runtime.getRuntime().addShutdownHook(Thread { program.destroy() })
        exitProcess(program.waitFor())
    }
}
