// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "KassaBench",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "../../bindings/swift")],
    targets: [.executableTarget(name: "KassaBench", dependencies: [.product(name: "Kassa", package: "swift")])],
    swiftLanguageModes: [.v6]
)
