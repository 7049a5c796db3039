import dev.kassa.server.KassaServer;

/** What must work wherever the jar is: its own program and the sandbox's are started, asked, and gone at the end. */
class Smoke {
    public static void main(String[] arguments) {
        long pid;
        try (KassaServer server = KassaServer.start()) {
            pid = server.getPid();
            if (!server.events().isEmpty()) throw new AssertionError("it is not as it should be");
        }
        if (ProcessHandle.of(pid).isPresent()) throw new AssertionError("it is still there");
        System.out.println("the server starts, answers and ends");
    }
}
