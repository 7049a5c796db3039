import Foundation

extension Journal {
    /// Opens the journal of this app, or of this user, where it belongs on this system.
    ///
    /// - **On Apple's systems** in `Kassa/journal` of Application Support: in an app, and in a Mac program in the App Sandbox, its own. The
    ///   folder is **excluded from backups**: an old journal that is put back knows nothing of what was sent since then, and the same on
    ///   two devices would be worse. Its files can be read **after the first unlock** since the device was started
    ///   (`FileProtectionType.completeUntilFirstUserAuthentication`), so that an app that is woken behind a locked screen can ask about its
    ///   payments. Both are set before anything is written.
    /// - **Elsewhere** in `$XDG_DATA_HOME/kassa/journal`, or in `~/.local/share/kassa/journal` where that is not set.
    ///
    /// **A folder serves one gateway and one merchant.** Outside an app's sandbox this one is the user's, and all programs of that user
    /// share it; so a second merchant, and a gateway for tries, each need a folder of their own: ``init(folder:)``.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` where the folder cannot be made, read or written.
    public static func standard() throws -> Journal {
        let folder: URL
        do {
            folder = try standardFolder()
        } catch {
            throw PaymentError.misconfigured(detail: "the journal's folder cannot be used: \(error.localizedDescription)")
        }
        return try Journal(folder: folder)
    }
}

#if canImport(Darwin)
    private func standardFolder() throws -> URL {
        try appFolder(
            in: FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true))
    }

    /// The folder in Application Support, made, and with what its files inherit.
    func appFolder(in support: URL) throws -> URL {
        let files = FileManager.default
        var folder = support.appending(path: "Kassa/journal", directoryHint: .isDirectory)
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        // A Mac has no lock screen that shuts files away: its user's disk is unlocked at login.
        #if !os(macOS) && !targetEnvironment(macCatalyst)
            attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
        #endif
        try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)
        // One that was there before has its own.
        try files.setAttributes(attributes, ofItemAtPath: folder.path(percentEncoded: false))
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try folder.setResourceValues(values)
        return folder
    }
#else
    /// The folder, which the journal makes.
    private func standardFolder() throws -> URL {
        let shared = folder("XDG_DATA_HOME")
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        return (shared ?? home.appending(path: ".local/share", directoryHint: .isDirectory))
            .appending(path: "kassa/journal", directoryHint: .isDirectory)
    }

    /// One that the environment names. A relative path is ignored, as the XDG Base Directory Specification says.
    private func folder(_ variable: String) -> URL? {
        let path = ProcessInfo.processInfo.environment[variable] ?? ""
        return path.hasPrefix("/") ? URL(filePath: path, directoryHint: .isDirectory) : nil
    }
#endif
