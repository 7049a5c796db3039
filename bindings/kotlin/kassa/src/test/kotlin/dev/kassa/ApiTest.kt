package dev.kassa

import kotlinx.serialization.KSerializer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.lang.reflect.Constructor
import java.lang.reflect.Executable
import java.lang.reflect.Member
import java.lang.reflect.Modifier
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.readText
import kotlin.io.path.relativeTo
import kotlin.io.path.writeText
import kotlin.reflect.KVisibility
import kotlin.streams.asSequence

/** What a compiler and an editor offer to whoever uses the package: binary compatibility, and nothing that is internal. */
class ApiTest {
    private val folder = Path.of(Gateway::class.java.protectionDomain.codeSource.location.toURI())
    private val all = Files.walk(folder).asSequence()
        .filter { it.toString().endsWith(".class") }
        .map { it.relativeTo(folder).toString().removeSuffix(".class").replace('/', '.') }
        .map { Class.forName(it, false, javaClass.classLoader) }
        .sortedBy { it.name }
        .toList()
    private val offered = all.filter(::isOffered)

    @Test
    fun `API is the one that is written down`() {
        val file = Path.of("api/kassa.api")
        val now = offered.joinToString("\n", transform = ::described)
        if (System.getProperty("kassa.api.write").toBoolean()) file.writeText(now)
        assertEquals(file.readText(), now, "where that is meant: scripts/kotlin/write-api")
    }

    @Test
    fun `of all classes only those of the API are offered`() {
        val hidden = all - offered.toSet()
        assertTrue(hidden.any { it.name == "dev.kassa.internal.Gateway" } && hidden.size > offered.size, "${hidden.size} are hidden")
        assertEquals(emptyList<Class<*>>(), offered.filter { it.packageName !in setOf("dev.kassa", "dev.kassa.testing") })
        assertEquals(emptyList<Class<*>>(), offered.filter { it.kotlin.visibility != KVisibility.PUBLIC })
        // Kotlin leaves out what is internal, or in something that is.
        assertEquals(emptyList<Class<*>>(), hidden.filter { type -> generateSequence(type) { it.enclosingClass }.none(::isInternal) })
        // Java leaves out all but the names of such classes.
        val callable = hidden.filter { Modifier.isPublic(it.modifiers) }.flatMap { it.declaredConstructors.asList() + it.declaredMethods }
        assertEquals(emptyList<Member>(), callable.filter(::isOffered))
    }

    /** Java would have to write `Companion` or `INSTANCE` for what is not static. */
    @Test
    fun `what belongs to no object is static in Java`() {
        // A serializer is named as an object: nobody calls its methods.
        val missing = offered.filterNot { KSerializer::class.java.isAssignableFrom(it) }
            .filter { it.kotlin.isCompanion || it.enclosingClass == null && it.kotlin.objectInstance != null }
            .flatMap { type ->
                val owner = if (type.kotlin.isCompanion) type.enclosingClass else type
                type.declaredMethods.filter(::isOffered).filter { method ->
                    owner.methods.none { it.name == method.name && Modifier.isStatic(it.modifiers) }
                }
            }
        assertEquals(emptyList<Any>(), missing.filterNot { it.name in setOf("toString", "hashCode", "equals") })
    }
}

/** Or made by the compiler for itself, or private. */
private fun isInternal(type: Class<*>): Boolean =
    type.getAnnotation(Metadata::class.java)?.kind != 1 || type.isAnonymousClass || type.kotlin.visibility != KVisibility.PUBLIC

/** Java's compilers do not offer what is synthetic. */
private fun isOffered(type: Class<*>): Boolean =
    Modifier.isPublic(type.modifiers) && !type.isSynthetic && !type.isAnonymousClass && (type.enclosingClass?.let(::isOffered) ?: true)

private fun isOffered(member: Member): Boolean =
    !member.isSynthetic && (Modifier.isPublic(member.modifiers) || Modifier.isProtected(member.modifiers))

private fun described(type: Class<*>): String {
    val members: List<Member> = type.declaredConstructors.asList() + type.declaredFields + type.declaredMethods
    val lines = members.filter(::isOffered).map { it.described().replace("${type.name}.", "") }.sorted()
    return (listOf("${header(type)} {") + lines.map { "    $it" } + "}\n").joinToString("\n")
}

private fun header(type: Class<*>): String {
    val parents = listOfNotNull(type.genericSuperclass) + type.genericInterfaces
    val permitted = type.permittedSubclasses.orEmpty().map { it.name }.sorted()
    val kind = if (type.isInterface) "" else "class "
    return "${Modifier.toString(type.modifiers)} $kind${type.name} : ${parents.joinToString { it.typeName }}" +
        if (permitted.isEmpty()) "" else " permits ${permitted.joinToString()}"
}

private fun Member.described() = when (this) {
    is Constructor<*> -> toGenericString().replaceFirst(declaringClass.name, "new")
    is Executable -> toGenericString()
    else -> (this as java.lang.reflect.Field).toGenericString()
}
