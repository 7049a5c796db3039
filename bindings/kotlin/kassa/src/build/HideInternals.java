import static org.objectweb.asm.Opcodes.ACC_STATIC;
import static org.objectweb.asm.Opcodes.ACC_SYNTHETIC;
import static org.objectweb.asm.Opcodes.ASM9;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import kotlin.Metadata;
import kotlin.metadata.Attributes;
import kotlin.metadata.KmClass;
import kotlin.metadata.KmConstructor;
import kotlin.metadata.KmFunction;
import kotlin.metadata.KmProperty;
import kotlin.metadata.Visibility;
import kotlin.metadata.jvm.JvmExtensionsKt;
import kotlin.metadata.jvm.KotlinClassMetadata;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;

/**
 * Hides from Java what Kotlin calls internal: the compiler writes it as public, and this marks it synthetic. Java's compilers and editors
 * leave out synthetic members; of a class its bare name stays, with nothing in it that could be called. Nothing else changes: to the JVM,
 * to JNA and to reflection all of it is as public as before.
 *
 * <p>usage: java -classpath CLASSPATH HideInternals.java FOLDER
 */
class HideInternals {
    private final Path folder;
    private final TreeMap<String, Path> files = new TreeMap<>();
    private final Set<String> classes = new HashSet<>();
    private final Set<String> members = new HashSet<>();

    private HideInternals(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] arguments) throws Exception {
        HideInternals step = new HideInternals(Path.of(arguments[0]));
        step.find();
        step.write();
    }

    private void find() throws Exception {
        try (var found = Files.walk(folder); var loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            for (Path file : (Iterable<Path>) found.filter(file -> file.toString().endsWith(".class"))::iterator) {
                String name = folder.relativize(file).toString().replace('\\', '/').replaceFirst("\\.class$", "");
                files.put(name, file);
                Metadata metadata = Class.forName(name.replace('/', '.'), false, loader).getAnnotation(Metadata.class);
                if (metadata != null) judge(name, KotlinClassMetadata.readLenient(metadata));
            }
        }
    }

    private void judge(String name, KotlinClassMetadata metadata) {
        if (metadata instanceof KotlinClassMetadata.Class written) {
            KmClass declared = written.getKmClass();
            if (isInternal(Attributes.getVisibility(declared))) classes.add(name);
            for (KmConstructor constructor : declared.getConstructors()) {
                if (isInternal(Attributes.getVisibility(constructor))) hide(name, JvmExtensionsKt.getSignature(constructor));
            }
            hideMembers(name, declared.getFunctions(), declared.getProperties());
        } else if (metadata instanceof KotlinClassMetadata.FileFacade written) {
            List<KmFunction> functions = written.getKmPackage().getFunctions();
            List<KmProperty> properties = written.getKmPackage().getProperties();
            boolean isPublic = functions.stream().anyMatch(function -> Attributes.getVisibility(function) == Visibility.PUBLIC)
                    || properties.stream().anyMatch(property -> Attributes.getVisibility(property) == Visibility.PUBLIC);
            if (!isPublic) classes.add(name);
            hideMembers(name, functions, properties);
        } else {
            // What the compiler makes for itself, such as the class of a suspended function.
            classes.add(name);
        }
    }

    private void hideMembers(String name, List<KmFunction> functions, List<KmProperty> properties) {
        for (KmFunction function : functions) {
            if (isInternal(Attributes.getVisibility(function))) hide(name, JvmExtensionsKt.getSignature(function));
        }
        for (KmProperty property : properties) {
            if (!isInternal(Attributes.getVisibility(property))) continue;
            hide(name, JvmExtensionsKt.getGetterSignature(property));
            hide(name, JvmExtensionsKt.getSetterSignature(property));
        }
    }

    private static boolean isInternal(Visibility visibility) {
        return visibility == Visibility.INTERNAL;
    }

    private void hide(String name, Object signature) {
        if (signature != null) members.add(name + "." + signature);
    }

    /** What is within something hidden is hidden. */
    private boolean isHidden(String name) {
        if (classes.contains(name)) return true;
        int end = name.lastIndexOf('$');
        return end > name.lastIndexOf('/') + 1 && isHidden(name.substring(0, end));
    }

    private void write() throws IOException {
        for (var file : files.entrySet()) {
            ClassReader reader = new ClassReader(Files.readAllBytes(file.getValue()));
            ClassWriter writer = new ClassWriter(reader, 0);
            reader.accept(new Marking(file.getKey(), writer), 0);
            Files.write(file.getValue(), writer.toByteArray());
        }
    }

    private class Marking extends ClassVisitor {
        private final String name;

        Marking(String name, ClassVisitor next) {
            super(ASM9, next);
            this.name = name;
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            super.visit(version, marked(access, isHidden(name)), name, signature, parent, interfaces);
        }

        @Override
        public void visitInnerClass(String name, String outer, String inner, int access) {
            super.visitInnerClass(name, outer, inner, marked(access, files.containsKey(name) && isHidden(name)));
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String type, String signature, String[] exceptions) {
            boolean isHidden = isHidden(name) && !method.equals("<clinit>") || members.contains(name + "." + method + type);
            return super.visitMethod(marked(access, isHidden), method, type, signature, exceptions);
        }

        @Override
        public FieldVisitor visitField(int access, String field, String type, String signature, Object value) {
            // A structure's own fields are JNA's, which is not to be asked whether it minds.
            boolean isHidden = isHidden(name) && (access & ACC_STATIC) != 0;
            return super.visitField(marked(access, isHidden), field, type, signature, value);
        }

        private int marked(int access, boolean isHidden) {
            return isHidden ? access | ACC_SYNTHETIC : access;
        }
    }
}
