import Foundation

extension Journal {
    /// Opens the journal of this app or user in the system's usual place.
    ///
    /// - **On Apple's systems** in `Kassa/journal` of Application Support: in an app, and in a Mac program in the App Sandbox, its own.
    ///   The folder is **excluded from backups**: a restored old journal does not know what was sent since, and a copy on a second device
    ///   would be worse. Its files can be read **after the first unlock** since the device was started
    ///   (`FileProtectionType.completeUntilFirstUserAuthentication`), so that an app that wakes behind a locked screen can query its
    ///   payments. Both are set before anything is written.
    /// - **Elsewhere** in `$XDG_DATA_HOME/kassa/journal`, or in `~/.local/share/kassa/journal` if that is not set.
    ///
    /// **A folder serves one gateway and one merchant.** Outside an app's sandbox, all programs of the user share this folder; so a
    /// second merchant, or a test gateway, needs a folder of its own: ``init(folder:)``.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the folder cannot be created, read or written.
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
