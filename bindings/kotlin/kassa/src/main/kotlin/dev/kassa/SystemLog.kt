package dev.kassa

/** The logger of the JVM. Nothing but [Library] may name this class, and only, if any. */
@NotOnAndroid
internal object SystemLog : LogSink {
    private val logger = System.getLogger("dev.kassa")

    override fun log(event: LogEvent) = logger.log(levelOf(event.level), event.text)

    private fun levelOf(level: LogLevel) = when (level) {
        LogLevel.ERROR -> System.Logger.Level.ERROR
        LogLevel.WARNING -> System.Logger.Level.WARNING
        LogLevel.INFO -> System.Logger.Level.INFO
        LogLevel.DEBUG -> System.Logger.Level.DEBUG
    }
}
