package dev.kassa.java;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Java's compiler, with the package on its class path. */
final class Compiler {
    private Compiler() {}

    /** The errors of a class, in English. */
    static List<String> problems(Path folder, String name, String source) {
        int version = Runtime.version().feature();
        List<String> options = new ArrayList<>(List.of(
                "-d", folder.toString(), "--release", "" + version, "-classpath", System.getProperty("java.class.path")));
        // Patterns in a switch are a preview before.
        if (version < 21) options.add("--enable-preview");
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        JavaFileObject file = new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source;
            }
        };
        ToolProvider.getSystemJavaCompiler().getTask(null, null, found, options, null, List.of(file)).call();
        return found.getDiagnostics().stream()
                .filter(problem -> problem.getKind() == Diagnostic.Kind.ERROR)
                .map(problem -> problem.getMessage(Locale.ROOT))
                .toList();
    }
}
