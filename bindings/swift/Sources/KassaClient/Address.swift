import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The server's address without a slash at its end, if an API key may be sent there.
func serverAddress(_ url: String, plainHTTPHosts: [String], _ environment: [String: String]) throws -> String {
    func invalid(_ rule: String) -> KassaClientError { .invalid(field: "url", rule: rule) }

    guard url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), let parts = URLComponents(string: url) else {
        throw invalid("must be the server's address, such as https://pay.shop.example.kg, without spaces")
    }
    let scheme = parts.scheme?.lowercased() ?? ""
    let host = bare(parts.host ?? "")
    guard scheme == "https" || scheme == "http", !host.isEmpty else {
        throw invalid("must begin with https:// or http:// and a host, such as https://pay.shop.example.kg")
    }
    guard !host.split(separator: ".", omittingEmptySubsequences: false).dropLast().contains(""), 1...65535 ~= parts.port ?? 1 else {
        throw invalid("must be the server's address: its host or its port is none")
    }
    // It may hold a password, so it is not part of the message.
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
        throw invalid("must have no user name, no query and no #")
    }
    let path = parts.percentEncodedPath.replacing(#/\/+$/#, with: "")
    guard !path.hasSuffix("/v1") else { throw invalid("must be the server's public_url, without /v1 at its end: the client adds it") }
    if scheme == "http" {
        guard isLoopback(host) || plainHTTPHosts.contains(where: { bare($0) == host }) else {
            throw invalid(
                "must begin with https://, because plain http shows the API key to the network: http is for this machine "
                    + "(127.0.0.1, localhost), and for hosts of a private network that plainHTTPHosts names")
        }
        #if !canImport(Darwin)
            // URLSession of Linux asks the proxy that the environment names, and cannot be kept from it: the proxy would read the key.
            guard !isProxied(host, environment) else {
                throw invalid("is plain http, which the proxy of http_proxy or all_proxy would read: name \(host) in no_proxy")
            }
        #endif
    }
    let shownHost = host.contains(":") ? "[\(host)]" : host
    return "\(scheme)://\(shownHost)\(parts.port.map { ":\($0)" } ?? "")\(path)"
}

private func bare(_ host: String) -> String {
    let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    return name.lowercased()
}

/// Not `x.localhost`: some systems resolve such names by DNS, which could lead anywhere.
private func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "::1" { return true }
    var address = in_addr()
    return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
}

/// As libcurl decides by the environment.
private func isProxied(_ host: String, _ environment: [String: String]) -> Bool {
    func variable(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }

    guard variable("http_proxy", "all_proxy", "ALL_PROXY") != nil else { return false }
    let direct = (variable("no_proxy", "NO_PROXY") ?? "").lowercased().split { $0 == "," || $0 == " " }
    return !direct.contains { $0 == "*" || bare(String($0)) == host || host.hasSuffix(".\($0.trimmingPrefix("."))") }
}

/// A part of a path, or a value in a query.
func escaped(_ text: String) -> String {
    let letters = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: letters) ?? ""
}
