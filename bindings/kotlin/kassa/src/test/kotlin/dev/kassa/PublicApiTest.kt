package dev.kassa

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.name
import kotlin.reflect.KCallable
import kotlin.reflect.KVisibility
import kotlin.streams.asSequence

/** The generated package is nobody's business, and the three gateways are one. */
class PublicApiTest {
    private val classes = Path.of(Gateway::class.java.protectionDomain.codeSource.location.toURI())
    private val public = listOf("dev.kassa", "dev.kassa.testing")
        .flatMap { name -> Files.list(classes.resolve(name.replace('.', '/'))).asSequence().map { "$name.${it.name}" } }
        .filter { it.endsWith(".class") }
        .map { Class.forName(it.removeSuffix(".class")) }
        .filterNot { it.isSynthetic || it.isAnonymousClass || it.name.endsWith("Kt") }
        .filter { it.kotlin.visibility == KVisibility.PUBLIC }

    @Test
    fun `no public name speaks of the generated package`() {
        assertTrue(public.size > 60, "${public.size} public classes")
        val members = public.flatMap { it.kotlin.members + it.kotlin.constructors }
        val leaks = members.filter { it.visibility == KVisibility.PUBLIC && "dev.kassa.internal" in it.toString() }
        assertEquals(emptyList<KCallable<*>>(), leaks)
    }

    @Test
    fun `test can import everything of Kassa and everything of its sandbox`() {
        val names = public.filter { it.enclosingClass == null }.map { it.simpleName }
        assertEquals(emptyList<String>(), names.filter(::isInSandbox))
        assertTrue(isInSandbox("TestCards"))
    }

    private fun isInSandbox(name: String) = try {
        Class.forName("dev.kassa.sandbox.$name").kotlin.visibility == KVisibility.PUBLIC
    } catch (_: ClassNotFoundException) {
        false
    }

    @Test
    fun `gateways have the same methods`() {
        // Without what tells overloads with Kotlin's times apart.
        fun methods(type: Class<*>) = type.methods.map { it.name.substringBefore('-') }.filter { '$' !in it }.toSet()
        val expected = methods(Gateway::class.java)
        assertEquals(expected, methods(FutureGateway::class.java))
        assertEquals(expected - "closeAndWait", methods(BlockingGateway::class.java))
        // What a user can put something else behind is all but `use`, the ways to a deadline, a note and a journal, and the journal's own.
        val delivery = setOf("deliverForever", "deliverUnfinished")
        val own = setOf("withDeadline", "withNote", "withJournal", "getJournal", "unfinished", "recover", "finish", "use") + delivery
        val contract = (expected - methods(Any::class.java)).filterNot { it in own }.toSet()
        assertEquals(contract, methods(PaymentGateway::class.java))
        assertEquals(contract, methods(FuturePaymentGateway::class.java))
        assertEquals(contract - "closeAndWait", methods(BlockingPaymentGateway::class.java))
        assertEquals(methods(BlockingStatusWatch::class.java), methods(FutureStatusWatch::class.java))
        val iterating = methods(Iterable::class.java) - methods(Any::class.java)
        // What is gone through is an Iterable, too, for programs that wait.
        assertEquals(methods(FutureRecovery::class.java), methods(BlockingRecovery::class.java) - iterating)
    }
}
