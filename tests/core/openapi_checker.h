// OpenApiChecker: whether a document is well-formed OpenAPI 3.1.

#pragma once

#include "codec/json/document.h"

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>

namespace annals::core {

/// Everything that is wrong with an OpenAPI document, one per line.
class OpenApiChecker {
  public:
    explicit OpenApiChecker(json::Value root) : root_(root) {}

    std::string run() {
        expect(root_["openapi"].string().starts_with("3.1."), "openapi");
        expect(root_["info"]["title"].is_string() && root_["info"]["version"].is_string(), "info");
        check_components();
        check_values(root_);
        check_security(root_["security"]);
        std::set<std::string> shapes;
        for (const json::Member path : root_["paths"].members()) {
            const std::string name = path.key.string();
            expect(name.starts_with('/'), name);
            expect(shapes.insert(without_names(name)).second, "the same path twice: " + name);
            check_path(name, path.value);
        }
        return faults_;
    }

  private:
    void expect(bool holds, const std::string& what) {
        if (!holds && faults_.size() < 4000) {
            faults_ += what + "\n";
        }
    }

    static std::string without_names(std::string path) {
        for (std::size_t at = path.find('{'); at != std::string::npos;
             at = path.find('{', at + 1)) {
            path.erase(at + 1, path.find('}', at) - at - 1);
        }
        return path;
    }

    json::Value resolved(json::Value value) {
        const json::Value reference = value["$ref"];
        if (!reference) {
            return value;
        }
        std::string text = reference.string();
        const auto [known, is_new] = targets_.try_emplace(text);
        if (!is_new) {
            return known->second;
        }
        expect(text.starts_with("#/"), "no local reference: " + text);
        text.erase(0, 2);
        json::Value at = root_;
        while (at && !text.empty()) {
            const std::string part = text.substr(0, text.find('/'));
            text.erase(0, part.size() + 1);
            at = at[part];
        }
        expect(static_cast<bool>(at), "leads nowhere: " + known->first);
        known->second = at;
        return at;
    }

    void check_values(json::Value value) {
        if (value.is_object()) {
            // 3.1 no longer asks for it, but generators and linters do.
            expect(!value["type"].equals("array") || value["items"].is_object(),
                   "array without items: " + std::string(value.raw()));
            for (const json::Member member : value.members()) {
                if (member.key.equals("$ref")) {
                    resolved(value);
                }
                check_values(member.value);
            }
        } else if (value.is_array()) {
            for (const json::Value element : value.elements()) {
                check_values(element);
            }
        }
    }

    void check_components() {
        static const std::set<std::string> kKinds{"parameters", "requestBodies", "responses",
                                                  "schemas",    "headers",       "securitySchemes"};
        for (const json::Member kind : root_["components"].members()) {
            expect(kKinds.contains(kind.key.string()), "components/" + kind.key.string());
            std::set<std::string> keys;
            for (const json::Member component : kind.value.members()) {
                const std::string key = component.key.string();
                expect(keys.insert(key).second, "twice: " + key);
                expect(!key.empty() && key.find_first_not_of(
                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789._-") == std::string::npos,
                       "a key: " + key);
                if (kind.key.equals("parameters")) {
                    check_parameter(component.value);
                } else if (kind.key.equals("responses")) {
                    expect(component.value["description"].is_string(), "response " + key);
                } else if (kind.key.equals("requestBodies")) {
                    expect(component.value["content"].size() > 0, "requestBody " + key);
                } else if (kind.key.equals("headers")) {
                    expect(component.value["schema"].is_object(), "header " + key);
                }
            }
        }
    }

    void check_parameter(json::Value parameter) {
        const std::string in = parameter["in"].string();
        expect(parameter["name"].is_string() && !parameter["name"].string().empty(), "name");
        expect(in == "query" || in == "header" || in == "path", "in: " + in);
        expect(in != "path" || parameter["required"].raw() == "true", "a path's is required");
        expect(parameter["schema"].is_object(), "schema of " + parameter["name"].string());
    }

    void check_security(json::Value security) {
        expect(security.is_array(), "security");
        for (const json::Value alternative : security.elements()) {
            for (const json::Member scheme : alternative.members()) {
                expect(
                    static_cast<bool>(root_["components"]["securitySchemes"][scheme.key.string()]),
                    "no scheme " + scheme.key.string());
                expect(scheme.value.is_array(), "scopes");
            }
        }
    }

    void take(json::Value list, std::set<std::string>& in_path, std::set<std::string>& all) {
        for (const json::Value element : list.elements()) {
            const json::Value parameter = resolved(element);
            check_parameter(parameter);
            const std::string name = parameter["name"].string();
            expect(all.insert(parameter["in"].string() + " " + name).second,
                   "parameter twice: " + name);
            if (parameter["in"].equals("path")) {
                in_path.insert(name);
            }
        }
    }

    void check_path(const std::string& path, json::Value item) {
        static const std::set<std::string> kMethods{"get",     "put",  "post", "delete",
                                                    "options", "head", "patch"};
        std::set<std::string> wanted;
        for (std::size_t at = path.find('{'); at != std::string::npos;
             at = path.find('{', at + 1)) {
            wanted.insert(path.substr(at + 1, path.find('}', at) - at - 1));
        }
        std::size_t count = 0;
        for (const json::Member member : item.members()) {
            const std::string method = member.key.string();
            if (method == "parameters") {
                continue;
            }
            const std::string where = method + " " + path;
            expect(kMethods.contains(method), where);
            ++count;
            const json::Value operation = member.value;
            const std::string id = operation["operationId"].string();
            expect(!id.empty() && ids_.insert(id).second, "operationId '" + id + "' " + where);
            expect(operation["responses"].is_object() && operation["responses"].size() > 0, where);
            for (const json::Member response : operation["responses"].members()) {
                expect(resolved(response.value)["description"].is_string(), where);
                const std::string status = response.key.string();
                expect(status == "default" ||
                           (status.size() == 3 && status[0] >= '1' && status[0] <= '5'),
                       where + status);
            }
            if (operation["requestBody"]) {
                expect(resolved(operation["requestBody"])["content"].size() > 0, where);
                expect(method != "get" && method != "options", where);
            }
            if (operation["security"]) {
                check_security(operation["security"]);
            }
            std::set<std::string> in_path;
            std::set<std::string> all;
            take(item["parameters"], in_path, all);
            take(operation["parameters"], in_path, all);
            expect(in_path == wanted, "path parameters of " + where);
        }
        expect(count > 0, "nothing at " + path);
    }

    json::Value root_;
    std::unordered_map<std::string, json::Value> targets_;  // of references
    std::set<std::string> ids_;
    std::string faults_;
};

}  // namespace annals::core
